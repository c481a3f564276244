// What our tests use of jest, on Mocha: Stryker's Mocha runner tries one mutant after the other without loading anything
// again, which costs milliseconds where jest costs seconds.
const { expect } = require('expect');
const { ModuleMocker } = require('jest-mock');

const mocker = new ModuleMocker(globalThis);
globalThis.expect = expect;
globalThis.jest = {
  fn: mocker.fn.bind(mocker),
  spyOn: mocker.spyOn.bind(mocker),
  restoreAllMocks: () => mocker.restoreAllMocks(),
};

/** Mocha takes a parameter for a callback, and jest's tests here have none. */
function plain(body) {
  return () => body();
}

function eachOf(declare) {
  return (rows) => (name, body) => {
    const table = [...rows];
    const isSpread = table.every(Array.isArray);
    for (const [index, row] of table.entries()) {
      const values = isSpread ? row : [row];
      declare(`${name} [${index}]`, () => body(...values));
    }
  };
}

function installOn(context) {
  const { describe, it, before, after, beforeEach, afterEach } = context;
  const test = (name, body) => it(name, plain(body));
  const suite = (name, body) => describe(name, plain(body));
  suite.each = eachOf(suite);
  suite.skip = (name) => describe.skip(name, () => {});
  test.each = eachOf(test);
  test.skip = (name) => it.skip(name);
  test.skip.each = () => () => {};
  Object.assign(globalThis, {
    describe: suite,
    it: test,
    test,
    beforeAll: (body) => before(plain(body)),
    afterAll: (body) => after(plain(body)),
    beforeEach: (body) => beforeEach(plain(body)),
    afterEach: (body) => afterEach(plain(body)),
  });
}

module.exports = { installOn };
