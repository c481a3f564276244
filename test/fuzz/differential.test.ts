import { CHECKS } from '../../src/solana/rules/checks.js';
import { openDifferential } from './differential.js';

// The long form: npm run fuzz.
const RUNS = 400;
/** Each is noticed within one or two thousand payments on the average, and it ends with the first. */
const ENOUGH = 50_000;

test('whatever our rules accept pays the terms to the token, and costs us the fee that they reckoned', async () => {
  const { run, figures } = await openDifferential();
  run(RUNS);
  expect(figures.executed).toBeGreaterThan(RUNS / 20);
  expect(figures.accepted).toBeLessThan(figures.tried);
});

// The other rules have no effect on the chain of their own: what they refuse, the runtime or another rule refuses too.
test.each([
  'first account is the fee payer',
  'one transfer',
  'source is not ours',
  'destination is the token account of payTo',
  'amount is exact',
  'memos',
  'known instructions only',
  'network fee under the cap',
  "payer's signature",
])('it is noticed when the rule "%s" is missing', async (missing) => {
  const rest = CHECKS.filter(({ name }) => name !== missing);
  expect(rest).toHaveLength(CHECKS.length - 1);
  const { run } = await openDifferential(rest);
  expect(() => run(ENOUGH)).toThrow('Property failed');
});
