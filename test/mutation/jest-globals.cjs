// What our tests use of jest, on Mocha: Stryker's Mocha runner tries one mutant after the other without loading anything
// again, which costs milliseconds where jest costs seconds.
const { expect } = require('expect');
const { ModernFakeTimers } = require('@jest/fake-timers');
const { ModuleMocker } = require('jest-mock');

const mocker = new ModuleMocker(globalThis);
const timers = new ModernFakeTimers({ global: globalThis, config: { fakeTimers: {}, rootDir: __dirname } });
globalThis.expect = expect;
globalThis.jest = {
  fn: mocker.fn.bind(mocker),
  spyOn: mocker.spyOn.bind(mocker),
  restoreAllMocks: () => mocker.restoreAllMocks(),
  useFakeTimers: (config) => timers.useFakeTimers(config),
  useRealTimers: () => timers.useRealTimers(),
  getTimerCount: () => timers.getTimerCount(),
  advanceTimersByTimeAsync: (milliseconds) => timers.advanceTimersByTimeAsync(milliseconds),
};

// Stryker's own connection, which tests that count the sockets of the process do not expect.
const activeResources = process.getActiveResourcesInfo.bind(process);
const isSocket = (name) => name.startsWith('TCPSocket');
const runnersSockets = activeResources().filter(isSocket).length;
process.getActiveResourcesInfo = () => {
  const names = activeResources();
  return [...names.filter((it) => !isSocket(it)), ...names.filter(isSocket).slice(runnersSockets)];
};

/** Mocha takes a parameter for a callback, and jest's tests here have none. */
function plain(body) {
  return () => body();
}

/**
 * What Stryker takes for reached by a test is what ran since Mocha's `beforeEach`. What a suite does before all of its tests
 * is reached by each of them, and not by the last test of the suite before it.
 */
function forAllTests(body) {
  return async function beforeAllTests() {
    const stryker = globalThis.__stryker__;
    if (stryker === undefined || stryker.activeMutant !== undefined) return void (await body());
    const suite = this.test.parent;
    const [test, id] = [stryker.currentTestId, `before all of ${suite.fullTitle()}`];
    stryker.currentTestId = id;
    await body();
    stryker.currentTestId = test;
    const { perTest } = stryker.mutantCoverage ?? { perTest: {} };
    for (const [mutant, count] of Object.entries(perTest[id] ?? {})) {
      suite.eachTest((reaching) => {
        const name = reaching.fullTitle();
        perTest[name] ??= {};
        perTest[name][mutant] = (perTest[name][mutant] ?? 0) + count;
      });
    }
    delete perTest[id];
  };
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

/** @param longestTestMs - in which a mutant is found that makes a test wait for ever */
function installOn(context, longestTestMs) {
  const { describe, it, before, after, beforeEach, afterEach } = context;
  // In a suite of its own, since Mocha does the tests of a suite before the suites in it, and jest all in their order.
  const test = (name, body) => void describe('', () => void it(name, plain(body)).timeout(longestTestMs));
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
    beforeAll: (body) => before(forAllTests(body)),
    afterAll: (body) => after(plain(body)),
    beforeEach: (body) => beforeEach(plain(body)),
    afterEach: (body) => afterEach(plain(body)),
  });
}

module.exports = { installOn };
