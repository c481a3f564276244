import type { Counters } from '../../storage/counters/counters.js';
import { CHANGES_MS, changesUsedUp, type Quotas } from '../../storage/owners/quotas.js';

/** What {@link createChangeLimit} works with. */
export interface ChangeLimitParts {
  readonly counters: Pick<Counters, 'increment' | 'decrement'>;
  readonly quotas: (owner: string) => Promise<Quotas>;
  readonly isOperator: (wallet: string) => boolean;
  /** Clock, milliseconds since the epoch. */
  readonly now: () => number;
}

/**
 * How much a wallet changes. A change is written down for longer than it lasts (the audit log, events), and signing in costs nothing:
 * without an end to it a wallet that makes and takes back would fill the disk.
 */
export interface ChangeLimit {
  /**
   * Counts a change that is about to be made, on all instances together. Operators have as many as they like, and while the counters
   * cannot be reached so has everybody.
   * @param wallet - base58: the caller's own, or the owner's of its key
   * @returns takes it back, where nothing was changed
   * @throws TollhouseError `rate_limited` beyond the wallet's quota, `store_unavailable` where that cannot be looked up
   */
  count(wallet: string): Promise<() => void>;
}

/** Makes the limit of changes. */
export function createChangeLimit({ counters, quotas, isOperator, now }: ChangeLimitParts): ChangeLimit {
  return {
    async count(wallet) {
      if (isOperator(wallet)) return () => {};
      const { dailyChanges: most } = await quotas(wallet);
      const key = `changes:${wallet}`;
      const takeBack = () => void counters.decrement(key).catch(() => {});
      const { count, resetsAt } = await counted(counters, key);
      if (count <= most) return takeBack;
      takeBack();
      throw changesUsedUp(most, resetsAt - now());
    },
  };
}

async function counted(counters: Pick<Counters, 'increment'>, key: string) {
  try {
    return await counters.increment(key, CHANGES_MS);
  } catch {
    return { count: 0, resetsAt: 0 };
  }
}
