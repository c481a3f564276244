import { type Leg, splitAmount } from '../../protocol/money/split.js';
import type { ProjectRecord } from '../../storage/projects/projects.js';

/** What the payment of one call must do. */
export interface ProjectDemand {
  /** What each recipient gets, in atomic units; they sum to the price. */
  readonly legs: readonly Leg[];
  /**
   * Wallet that an x402 payment goes to, base58: it can make one transfer only. Missing where there are several recipients
   * and no split wallet: such a project is paid by `POST /create-payment` alone.
   */
  readonly payTo?: string;
  /** What of such a payment is owed to whom, where the split wallet receives it. */
  readonly owedLegs?: readonly Leg[];
}

/**
 * How the calls of a project are paid.
 * @param splitWallet - holds what is owed to several recipients until it is paid out, base58
 * @param amount - what is paid, atomic units. Default: the price of a call
 */
export function demandOf(
  { price, split }: Pick<ProjectRecord, 'price' | 'split'>,
  splitWallet: string | undefined,
  amount: bigint = price.amount,
): ProjectDemand {
  const legs = splitAmount(amount, split);
  const [only, ...others] = legs;
  if (only !== undefined && others.length === 0) return { legs, payTo: only.recipient };
  return splitWallet === undefined ? { legs } : { legs, payTo: splitWallet, owedLegs: legs };
}
