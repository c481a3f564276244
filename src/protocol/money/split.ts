import { isAddress } from '../address.js';

/** A share of a payment, in hundredths of a per cent. */
export interface Share {
  /** Wallet that receives, base58. */
  readonly recipient: string;
  /** Basis points; all shares of a split sum to {@link WHOLE}. */
  readonly bps: number;
}

/** One recipient's part of a payment. */
export interface Leg {
  /** Wallet that receives, base58. */
  readonly recipient: string;
  /** Atomic units. */
  readonly amount: bigint;
}

/** Basis points of a whole. */
export const WHOLE = 10_000;

/** Most recipients of one payment: their transfers must fit into one transaction. */
export const MAX_SHARES = 8;

/**
 * Splits an amount: each share rounded down, what is left over to the first. The legs sum to the amount.
 * @param shares - at least one, summing to {@link WHOLE}
 */
export function splitAmount(amount: bigint, shares: readonly Share[]): readonly Leg[] {
  const legs = shares.map(({ recipient, bps }) => ({ recipient, amount: (amount * BigInt(bps)) / BigInt(WHOLE) }));
  const remainder = amount - legs.reduce((sum, leg) => sum + leg.amount, 0n);
  return legs.map((leg, index) => (index === 0 ? { ...leg, amount: leg.amount + remainder } : leg));
}

/** What is wrong with the shares of a split whoever the recipients are, as the rest of a sentence; undefined when nothing is. */
export function sharesFault(shares: readonly Share[]): string | undefined {
  if (shares.length === 0 || shares.length > MAX_SHARES) return `must name 1 to ${MAX_SHARES} recipients`;
  if (!shares.every(({ recipient }) => isAddress(recipient)))
    return 'names a recipient that is no Solana wallet address';
  if (!shares.every(({ bps }) => Number.isInteger(bps) && bps >= 1))
    return 'must give each recipient at least 1 basis point';
  return shares.reduce((sum, { bps }) => sum + bps, 0) === WHOLE ? undefined : `must sum to ${WHOLE} basis points`;
}
