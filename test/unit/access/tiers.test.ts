import fc from 'fast-check';
import { readTiers, standingOf, type TiersOptions } from '../../../src/access/tiers.js';
import { TollhouseError } from '../../../src/errors/errors.js';
import { formatAmount } from '../../../src/protocol/money/money.js';
import { SANDBOX_TOKENS } from '../../../src/protocol/networks/tokens.js';

const USDC = '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU';
const OTHER_MINT = '2wKupLR9q6wXYppw8Gr2NvWxKBUqm4PPJKkQfoxHDBg4';
const read = (options?: TiersOptions) => readTiers('test', options, SANDBOX_TOKENS);
const level = (id: string, minBalance: string | number, ...features: string[]) => ({ id, minBalance, features });

describe('tiers', () => {
  test('are bronze, silver and gold in USDC by default, each with the features of those below it', () => {
    expect(read()).toEqual({
      mint: USDC,
      levels: [
        { id: 'bronze', name: 'Bronze', minBalance: '100', features: ['basic_access'] },
        { id: 'silver', name: 'Silver', minBalance: '1000', features: ['basic_access', 'premium_content'] },
        { id: 'gold', name: 'Gold', minBalance: '10000', features: ['basic_access', 'premium_content', 'api_access'] },
      ],
    });
  });

  test('a feature that comes again is there once', () => {
    const { levels } = read({ levels: [level('a', 1, 'x', 'y'), level('b', 2, 'y', 'z')] });
    expect(levels.map(({ features }) => features)).toEqual([
      ['x', 'y'],
      ['x', 'y', 'z'],
    ]);
  });

  test.each([
    ['USDC', USDC],
    ['usdc', USDC],
    ['SOL', 'So11111111111111111111111111111111111111112'],
    [OTHER_MINT, OTHER_MINT],
  ])('of %s are of the mint %s', (mint, expected) => {
    expect(read({ mint }).mint).toBe(expected);
  });

  test.each<[string, unknown, RegExp]>([
    ['an unknown field', { levls: [] }, /unknown option "levls"; did you mean "levels"/],
    ['an unknown field of a level', { levels: [{ id: 'a', minBalence: 1 }] }, /levels\[0\].*did you mean "minBalance"/],
    ['no level', { levels: [] }, /at least one tier/],
    ['a level without minimum', { levels: [{ id: 'a' }] }, /"minBalance" is missing/],
    ['a negative minimum', { levels: [level('a', -1)] }, /"minBalance" must be a decimal amount/],
    ['a minimum that is no number', { levels: [level('a', 'much')] }, /"minBalance" must be a decimal amount/],
    ['a minimum beyond any account', { levels: [level('a', '1e30')] }, /"minBalance"/],
    ['more decimals than USDC has', { levels: [level('a', '0.0000001')] }, /more decimal places than the token/],
    ['an id in capitals', { levels: [level('Gold', 1)] }, /"id" must be 1 to 40 lower-case/],
    ['an id twice', { levels: [level('a', 1), level('a', 2)] }, /two levels with the id "a"/],
    ['minimums that fall', { levels: [level('a', 2), level('b', 1)] }, /must rise: the minBalance of "b"/],
    ['equal minimums in different spelling', { levels: [level('a', '1.0'), level('b', 1)] }, /must rise/],
    ['a token that nobody knows', { mint: 'UDSC' }, /did you mean "USDC"/],
  ])('with %s are refused', (_name, options, message) => {
    expect(() => read(options as TiersOptions)).toThrow(message);
    expect(() => read(options as TiersOptions)).toThrow(TollhouseError);
  });
});

describe('a standing', () => {
  test.each([
    [0n, undefined, 'bronze', 100_000_000n],
    [99_999_999n, undefined, 'bronze', 1n],
    [100_000_000n, 'bronze', 'silver', 900_000_000n],
    [999_999_999n, 'bronze', 'silver', 1n],
    [1_000_000_000n, 'silver', 'gold', 9_000_000_000n],
    [10_000_000_000n, 'gold', undefined, 0n],
    [2n ** 64n - 1n, 'gold', undefined, 0n],
  ])('of %s atomic USDC is %s, then %s after %s more', (amount, tier, next, missing) => {
    const standing = standingOf('test', read(), amount, 6);
    expect([standing.tier?.id, standing.next?.id, standing.missing]).toEqual([tier, next, missing]);
  });

  const aLadder = fc
    .uniqueArray(fc.bigInt({ min: 0n, max: 10n ** 15n }), { minLength: 1, maxLength: 8 })
    .map((minimums) => [...minimums].sort((a, b) => (a < b ? -1 : 1)));
  const anAmount = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n });

  test('is the highest tier that is reached, and missing is exactly what the next one takes', () => {
    fc.assert(
      fc.property(aLadder, anAmount, fc.integer({ min: 0, max: 9 }), (minimums, amount, decimals) => {
        const levels = minimums.map((minimum, index) => level(`t${index}`, formatAmount(minimum, decimals)));
        const { tier, next, missing } = standingOf('test', read({ mint: OTHER_MINT, levels }), amount, decimals);
        const reached = minimums.filter((minimum) => minimum <= amount).length;

        expect(tier?.id).toBe(reached === 0 ? undefined : `t${reached - 1}`);
        expect(next?.id).toBe(reached === minimums.length ? undefined : `t${reached}`);
        expect(amount + missing).toBe(minimums[reached] ?? amount);
      }),
    );
  });

  test('of a token with fewer decimals than a minimum has is a wrong option, not a rounded minimum', () => {
    const tiers = read({ mint: OTHER_MINT, levels: [level('a', '0.5')] });
    expect(standingOf('test', tiers, 5n, 1).tier?.id).toBe('a');
    expect(() => standingOf('test', tiers, 5n, 0)).toThrow(/more decimal places than the token, which has 0/);
  });
});
