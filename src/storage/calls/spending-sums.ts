import type { NetworkId } from '../../protocol/types.js';
import type { OfMoney } from '../sql/of-money.js';

/** Which spending is asked for: of all keys of a wallet, or of some of it. */
export interface SpendingQuery extends OfMoney {
  /** In whole days of UTC: `from` included, `to` not. Milliseconds since the epoch. */
  readonly from: number;
  readonly to: number;
  /** Wallet whose keys they are, base58. */
  readonly owner: string;
  readonly keyId?: string;
  readonly projectId?: string;
}

/** What was spent, for one token of one network. */
export interface SpendingSum {
  /** Native SOL is among wrapped SOL. */
  readonly mint: string;
  /** The network of the projects that it was spent on; missing where nothing is known of them. */
  readonly network?: NetworkId;
  /** Atomic units. */
  readonly amount: bigint;
  readonly calls: number;
}

/** What a key spent on a project. */
export interface SpendingRow extends SpendingSum {
  readonly keyId: string;
  readonly projectId: string;
}

/** What was spent in a day of UTC. */
export interface SpendingDay extends SpendingSum {
  /** Start of the day, milliseconds since the epoch. */
  readonly at: number;
}
