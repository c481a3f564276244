// Each test file in a suite of its own, so that its hooks stay its own. The quick ones first: a mutant is done with at
// the first test that fails.
const { readdirSync } = require('node:fs');
const path = require('node:path');
require('./typescript.cjs');
const { installOn } = require('./jest-globals.cjs');

const TESTS = path.resolve(__dirname, '..');

function testsIn(place) {
  if (place.endsWith('.test.ts')) return [place];
  const names = readdirSync(path.join(TESTS, place), { recursive: true }).filter((name) => name.endsWith('.test.ts'));
  return names.sort().map((name) => `${place}/${name}`);
}

/** Without a mutant the longest test takes five seconds, more on a busy machine. Milliseconds. */
const LONGEST_TEST_MS = 30_000;

/** Declares the tests of some files, and of all files of some folders, below `test`. */
function declareTests(places, longestTestMs = LONGEST_TEST_MS) {
  const { describe } = globalThis;
  installOn(globalThis, longestTestMs);
  for (const file of new Set(places.flatMap(testsIn))) {
    describe(file, () => void require(path.join(TESTS, file)));
  }
}

module.exports = { declareTests };
