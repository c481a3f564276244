import fc from 'fast-check';
import { MAX_SHARES, type Share, splitAmount, WHOLE } from '../../../src/protocol/split.js';

const U64_MAX = 2n ** 64n - 1n;

/** Any valid split: one to eight shares of at least one basis point, summing to the whole. */
const shares: fc.Arbitrary<Share[]> = fc
  .uniqueArray(fc.integer({ min: 1, max: WHOLE - 1 }), { maxLength: MAX_SHARES - 1 })
  .map((cuts) => {
    const ends = [0, ...cuts.sort((a, b) => a - b), WHOLE];
    return ends.slice(1).map((end, index) => ({ recipient: `wallet ${index}`, bps: end - ends[index]! }));
  });

test('for every total and every split the legs sum to the total', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: U64_MAX }), shares, (total, split) => {
      const legs = splitAmount(total, split);
      expect(legs.reduce((sum, { amount }) => sum + amount, 0n)).toBe(total);
      expect(legs.map(({ recipient }) => recipient)).toEqual(split.map(({ recipient }) => recipient));
    }),
    { numRuns: 2_000 },
  );
});

test('each leg is its share rounded down, and the first has what is left over: less than one unit a share', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: U64_MAX }), shares, (total, split) => {
      const floors = split.map(({ bps }) => (total * BigInt(bps)) / BigInt(WHOLE));
      const [first, ...others] = splitAmount(total, split).map(({ amount }) => amount);
      expect(others).toEqual(floors.slice(1));
      expect(first! - floors[0]!).toBeGreaterThanOrEqual(0n);
      expect(first! - floors[0]!).toBeLessThan(BigInt(split.length));
    }),
    { numRuns: 2_000 },
  );
});

test.each([
  [100n, [5_000, 5_000], [50n, 50n]],
  [101n, [5_000, 5_000], [51n, 50n]],
  [1n, [1, 9_999], [1n, 0n]],
  [0n, [5_000, 5_000], [0n, 0n]],
  [U64_MAX, [10_000], [U64_MAX]],
  [U64_MAX, [3_333, 3_333, 3_334], [6148299799767393554n, 6148299799767393553n, 6150144474174764508n]],
])('%d by %j is %j', (total, bps, amounts) => {
  const split = bps.map((it, index) => ({ recipient: `wallet ${index}`, bps: it }));
  expect(splitAmount(total, split).map(({ amount }) => amount)).toEqual(amounts);
});
