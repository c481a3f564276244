// Each test file in a suite of its own, so that its hooks stay its own. The quick ones first: a mutant is done with at
// the first test that fails.
const { readdirSync } = require('node:fs');
const path = require('node:path');
require('./typescript.cjs');
const { installOn } = require('./jest-globals.cjs');

const TESTS = path.resolve(__dirname, '..');
const FOLDERS = [
  'unit/protocol',
  'unit/solana',
  'unit/facilitator',
  'unit/middleware',
  'unit/access',
  'chain/adversarial',
  'chain/native',
];
const FILES = [
  'unit/gateway/project-demand.test.ts',
  'chain/payouts.test.ts',
  'chain/payouts-together.test.ts',
  'chain/holdings.test.ts',
  'chain/delivery.test.ts',
];

function testsIn(folder) {
  const names = readdirSync(path.join(TESTS, folder)).filter((name) => name.endsWith('.test.ts'));
  return names.sort().map((name) => `${folder}/${name}`);
}

const { describe } = globalThis;
installOn(globalThis);
for (const file of [...FOLDERS.flatMap(testsIn), ...FILES]) {
  describe(file, () => void require(path.join(TESTS, file)));
}
