const { default: Runtime } = require('jest-runtime');

const packages = new Map();
let current;

/**
 * Jest's loader of modules, which loads the packages of `node_modules` once for all files of a worker. For each file
 * that took longer than most files test. The environment has one realm for them all.
 */
module.exports = class SharedPackages extends Runtime {
  constructor(...options) {
    super(...options);
    current = this;
    for (const [path, module] of packages) this.registries.getActiveCjsRegistry().set(path, module);
  }

  // A package that an earlier file loaded may load a part of itself now.
  requireModuleOrMock(from, name) {
    return this === current ? super.requireModuleOrMock(from, name) : current.requireModuleOrMock(from, name);
  }

  teardown() {
    for (const [path, module] of this.registries.getActiveCjsRegistry())
      if (path.includes('/node_modules/') && module.loaded) packages.set(path, module);
    super.teardown();
  }
};
