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
 * Splits an amount: each share rounded down, what is left over to the first (service.md §5). The legs sum to the amount.
 * @param shares - at least one, summing to {@link WHOLE}
 */
export function splitAmount(amount: bigint, shares: readonly Share[]): readonly Leg[] {
  const legs = shares.map(({ recipient, bps }) => ({ recipient, amount: (amount * BigInt(bps)) / BigInt(WHOLE) }));
  const remainder = amount - legs.reduce((sum, leg) => sum + leg.amount, 0n);
  return legs.map((leg, index) => (index === 0 ? { ...leg, amount: leg.amount + remainder } : leg));
}
