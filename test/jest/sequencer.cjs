const { existsSync } = require('node:fs');
const { join } = require('node:path');

const jest = require.resolve('jest');
// Jest's own, and of its version: a dependency of it.
const { default: Sequencer } = require(require.resolve('@jest/test-sequencer', { paths: [jest] }));

/** Files that wait for their chains for the longest, as `jest --json` tells: begun last, one of them would keep all others waiting. */
const LONGEST = [
  'http/payment/sent-or-not',
  'crash/named-calls',
  'crash/tried-out-calls',
  'http/gateway/names-in-trouble',
  'http/wallet/paid-again',
  'http/payment/too-many-payments',
  'chain/native/what-is-lacking',
  'http/gate/any-of-payments',
  'http/gateway/owed-under-a-name',
  'contracts/passes',
  'http/gateway/fee-shares',
  'http/abuse/held-up-upstreams',
  'chain/reconcile-planted',
  'contracts/facilitator',
  'http/abuse/expressions',
  'http/gateway/long-calls',
  'http/passes/refunds-after-restore',
];

const gone = LONGEST.filter((name) => !existsSync(join(__dirname, '..', `${name}.test.ts`)));
if (gone.length > 0) throw new Error(`test/jest/sequencer.cjs names files that are not there: ${gone.join(', ')}`);

/**
 * Begins with the longest, and puts the others of them between the rest, at equal distances: side by side they would all wait, and
 * leave the processors to nobody.
 */
module.exports = class extends Sequencer {
  sort(tests) {
    const placeOf = ({ path }) => LONGEST.findIndex((name) => path.includes(`/test/${name}.test.`));
    const sorted = super.sort(tests);
    const long = sorted.filter((it) => placeOf(it) >= 0).sort((one, other) => placeOf(one) - placeOf(other));
    const rest = sorted.filter((it) => placeOf(it) < 0);
    const distance = Math.ceil(rest.length / (long.length + 1));
    const mixed = long.flatMap((it, index) => [it, ...rest.slice(index * distance, (index + 1) * distance)]);
    return [...mixed, ...rest.slice(long.length * distance)];
  }
};
