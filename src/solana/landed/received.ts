import type { LandedTransaction } from '../rpc/landed-transaction.js';
import { moneyGainedBy, moneyMoved } from './landed-money.js';
import { type PlainTransfer, plainTransfers } from './plain-transfers.js';

/** What arrived for a wallet in a transaction, net: what went on, or back, in the same transaction is taken off. */
export interface Received {
  /** Mint, base58; NATIVE_SOL for SOL. */
  readonly asset: string;
  readonly decimals: number;
  /** Atomic units, more than zero. */
  readonly amount: bigint;
  /** Base58. */
  readonly to: string;
  /** Who signed for the largest transfer of it; undefined where it came otherwise, as the rent of an account that was closed. */
  readonly from: string | undefined;
}

/** What arrived in a transaction, for each wallet and asset. Empty when it failed. */
export function receivedIn(landed: LandedTransaction): readonly Received[] {
  const transfers = plainTransfers(landed);
  return moneyMoved(landed).flatMap(({ asset, decimals, gained, wallet: to }) => {
    const amount = moneyGainedBy(landed, to, asset) ?? gained;
    return amount > 0n ? [{ asset, decimals, amount, to, from: payerOf(to, asset, transfers) }] : [];
  });
}

function payerOf(wallet: string, asset: string, transfers: readonly PlainTransfer[]): string | undefined {
  const incoming = transfers.filter((it) => it.asset === asset && it.to === wallet && it.from !== wallet);
  const [first, ...others] = incoming;
  if (first === undefined) return undefined;
  return others.reduce((largest, it) => (it.amount > largest.amount ? it : largest), first).from;
}
