import fc from 'fast-check';
import { MAX_SHARES, type Share, sharesFault, splitAmount, WHOLE } from '../../../../src/protocol/money/split.js';
import { PAY_TO, PAYER } from '../samples.js';

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

describe('sharesFault', () => {
  const paid = (...bps: number[]): Share[] => bps.map((it) => ({ recipient: PAY_TO, bps: it }));
  const equal = (count: number) => paid(...new Array<number>(count - 1).fill(1), WHOLE - count + 1);
  const COUNT = 'must name 1 to 8 recipients';
  const ADDRESS = 'names a recipient that is no Solana wallet address';
  const LEAST = 'must give each recipient at least 1 basis point';
  const SUM = 'must sum to 10000 basis points';

  test.each<[string, Share[], string | undefined]>([
    ['nobody', [], COUNT],
    ['one recipient', paid(WHOLE), undefined],
    ['eight recipients, the least share is one basis point', equal(8), undefined],
    ['nine recipients', equal(9), COUNT],
    ['one who is no wallet, among others', [...paid(WHOLE - 1), { recipient: 'nobody', bps: 1 }], ADDRESS],
    ['nobody who is a wallet', [{ recipient: '', bps: WHOLE }], ADDRESS],
    ['two wallets', [...paid(1), { recipient: PAYER, bps: WHOLE - 1 }], undefined],
    ['a share of nothing, among others', paid(WHOLE, 0), LEAST],
    ['a share below nothing', paid(WHOLE + 1, -1), LEAST],
    ['shares that are no whole numbers', paid(9_998.5, 1.5), LEAST],
    ['a share that is no number', paid(Number.NaN, WHOLE), LEAST],
    ['a share without end', paid(Number.POSITIVE_INFINITY), LEAST],
    ['one basis point too few', paid(5_000, 4_999), SUM],
    ['one basis point too many', paid(5_000, 5_001), SUM],
  ])('%s', (_, split, fault) => {
    expect(sharesFault(split)).toBe(fault);
  });

  test('finds nothing wrong with a split of the whole among wallets, and something with any other sum', () => {
    fc.assert(
      fc.property(shares, fc.integer({ min: 1, max: WHOLE }), (split, more) => {
        const [first, ...others] = split.map(({ bps }) => ({ recipient: PAY_TO, bps }));
        expect(sharesFault([first!, ...others])).toBeUndefined();
        expect(sharesFault([{ ...first!, bps: first!.bps + more }, ...others])).toBe(SUM);
      }),
    );
  });
});
