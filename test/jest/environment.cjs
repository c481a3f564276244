const { TestEnvironment } = require('jest-environment-node');

/** One realm for all test files of a worker, so that they can share the packages that are loaded in it (runtime.cjs). */
let shared;

module.exports = class SharedEnvironment {
  sharesPackages = true;

  constructor(config, context) {
    shared ??= new TestEnvironment(config, context);
    for (const name of ['context', 'global', 'moduleMocker', 'fakeTimers', 'fakeTimersModern'])
      this[name] = shared[name];
    this.variables = { ...this.global.process.env };
    this.exit = this.global.process.exit;
  }

  async setup() {}

  async teardown() {
    this.fakeTimersModern.useRealTimers();
    this.moduleMocker.restoreAllMocks();
    const { process } = this.global;
    for (const name of Object.keys(process.env)) delete process.env[name];
    Object.assign(process.env, this.variables);
    process.exit = this.exit;
    delete this.global[Symbol.for('EVENT_HANDLERS')];
  }

  exportConditions() {
    return shared.exportConditions();
  }

  getVmContext() {
    return this.context;
  }
};
