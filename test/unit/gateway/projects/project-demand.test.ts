import fc from 'fast-check';
import { demandOf } from '../../../../src/gateway/projects/project-demand.js';
import { WHOLE } from '../../../../src/protocol/money/split.js';
import type { ProjectRecord } from '../../../../src/storage/projects/projects.js';

const SPLIT_WALLET = 'split-wallet';

/** Shares of 1 to 8 recipients that sum to the whole. */
const split = fc
  .uniqueArray(fc.integer({ min: 1, max: WHOLE - 1 }), { maxLength: 7 })
  .map((cuts) => [0, ...cuts.sort((one, other) => one - other), WHOLE])
  .map((edges) => edges.slice(1).map((edge, at) => ({ recipient: `wallet-${at}`, bps: edge - (edges[at] ?? 0) })));

function projectOf(amount: bigint, shares: ProjectRecord['split']): Pick<ProjectRecord, 'price' | 'split'> {
  const token = { symbol: 'USDC', mint: 'mint', decimals: 6, program: 'program' };
  return { price: { amount, token, network: 'solana-devnet' }, split: shares };
}

test('for every price and every split the legs sum to the price, and what is owed is the same', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 1n, max: 2n ** 64n - 1n }), split, (amount, shares) => {
      const { legs, payTo, owedLegs } = demandOf(projectOf(amount, shares), SPLIT_WALLET);
      expect(legs.reduce((sum, leg) => sum + leg.amount, 0n)).toBe(amount);
      expect(payTo).toBe(shares.length === 1 ? 'wallet-0' : SPLIT_WALLET);
      expect(owedLegs).toEqual(shares.length === 1 ? undefined : legs);
    }),
  );
});

test('several recipients cannot be paid by one transfer without a split wallet', () => {
  const shares = [
    { recipient: 'one', bps: 9_000 },
    { recipient: 'other', bps: 1_000 },
  ];
  expect(demandOf(projectOf(10n, shares), undefined)).toEqual({
    legs: [
      { recipient: 'one', amount: 9n },
      { recipient: 'other', amount: 1n },
    ],
  });
});
