const { AsyncLocalStorage } = require('node:async_hooks');
const { join, sep } = require('node:path');
const { compileFunction } = require('node:vm');
const { default: Runtime } = require('jest-runtime');

const SOURCE = `${join(__dirname, '../../src')}${sep}`;
const PACKAGES = `${sep}node_modules${sep}`;

/** Loads packages and the source, once for all test files of a worker: what has run before is fast. */
let lasting;

/** What is below test is loaded by each test file anew, and compiled once for all of them, by its name. */
const compiled = new Map();

/**
 * Says which test runs. Jest follows tests through every promise, for those that run at the same time, and on Node before 24 that is a
 * twentieth of the whole run; here they run one after the other.
 */
class RunningTest extends AsyncLocalStorage {
  run(test, work) {
    const before = this.test;
    const end = () => {
      this.test = before;
    };
    this.test = test;
    try {
      const result = work();
      if (typeof result?.then === 'function') return result.finally(end);
      end();
      return result;
    } catch (error) {
      end();
      throw error;
    }
  }

  getStore() {
    return this.test ?? super.getStore();
  }
}

/** Jest's, but for what lasts from file to file. */
module.exports = class SharedModulesRuntime extends Runtime {
  constructor(...parts) {
    super(...parts);
    if (!this._environment.sharesModules) return;
    lasting ??= new Runtime(...parts);
    const { coreModule } = this.cjsLoader;
    const requireCore = coreModule.require.bind(coreModule);
    coreModule.require = (name) =>
      name === 'node:async_hooks' ? { ...requireCore(name), AsyncLocalStorage: RunningTest } : requireCore(name);
    const { executor } = this;
    const parsingContext = this._environment.getVmContext();
    executor.compile = (source, filename) => {
      const compile = () => compileFunction(source, executor.injectedModuleParameters, { filename, parsingContext });
      if (!compiled.has(filename)) compiled.set(filename, compile());
      return compiled.get(filename);
    };
  }

  requireModule(from, name, options, isActual) {
    const isShared = options === undefined && this._environment.sharesModules && this.isLasting(from, name);
    return isShared ? lasting.requireModule(from, name) : super.requireModule(from, name, options, isActual);
  }

  isLasting(from, name) {
    if (name === undefined || this._resolution.isCoreModule(name)) return false;
    const path = this._resolution.resolveCjs(from, name);
    return path.includes(PACKAGES) || path.startsWith(SOURCE);
  }
};
