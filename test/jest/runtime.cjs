const { sep } = require('node:path');
const { default: Runtime } = require('jest-runtime');

const PACKAGES = `${sep}node_modules${sep}`;

/** Loads packages, once for all test files of a worker: they were half of what a file loads. */
let packages;

/** Jest's, but for packages: what is below src and test is loaded by each file anew. */
module.exports = class SharedPackagesRuntime extends Runtime {
  constructor(...parts) {
    super(...parts);
    if (this._environment.sharesPackages) packages ??= new Runtime(...parts);
  }

  requireModule(from, name, options, isActual) {
    const isShared = options === undefined && this._environment.sharesPackages && this.isOfPackage(from, name);
    return isShared ? packages.requireModule(from, name) : super.requireModule(from, name, options, isActual);
  }

  isOfPackage(from, name) {
    if (name === undefined || /^[./]/.test(name) || this._resolution.isCoreModule(name)) return false;
    return this._resolution.resolveCjs(from, name).includes(PACKAGES);
  }
};
