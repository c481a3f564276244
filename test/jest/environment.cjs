const { TestEnvironment } = require('jest-environment-node');

/** One realm for all test files of a worker, so that they can share the modules that are loaded in it (runtime.cjs). */
let shared;

module.exports = class SharedEnvironment {
  sharesModules = true;

  constructor(config, context) {
    shared ??= new TestEnvironment(config, context);
    for (const name of ['context', 'global', 'moduleMocker', 'fakeTimers', 'fakeTimersModern'])
      this[name] = shared[name];
    this.variables = { ...this.global.process.env };
    this.exit = this.global.process.exit;
    this.lasting = new Set(Object.getOwnPropertySymbols(this.global));
  }

  async setup() {}

  async teardown() {
    this.fakeTimersModern.useRealTimers();
    this.moduleMocker.restoreAllMocks();
    const { process } = this.global;
    for (const name of Object.keys(process.env)) delete process.env[name];
    Object.assign(process.env, this.variables);
    process.exit = this.exit;
    // Where Jest keeps the state of a file; and what it keeps of replaced globals would keep all of that file in memory.
    for (const key of Object.getOwnPropertySymbols(this.global)) {
      if (!this.lasting.has(key)) Reflect.deleteProperty(this.global, key);
    }
    shared._globalProxy.leftovers = [];
  }

  exportConditions() {
    return shared.exportConditions();
  }

  getVmContext() {
    return this.context;
  }
};
