import { networksOfClient } from '../../lib/work/client-networks.js';
import type { Counters } from '../../storage/counters/counters.js';
import { ADDRESS_WALLETS, CHANGES_MS, changesUsedUp, type Quotas } from '../../storage/owners/quotas.js';

/** What {@link createChangeLimit} works with. */
export interface ChangeLimitParts {
  readonly counters: Pick<Counters, 'increment' | 'decrement'>;
  /** How many a day a wallet may make that has no quota of its own. */
  readonly usual: number;
  readonly quotas: (owner: string) => Promise<Quotas>;
  readonly isOperator: (wallet: string) => boolean;
  /** Clock, milliseconds since the epoch. */
  readonly now: () => number;
}

/** Who makes a change. */
export interface Changer {
  /** Base58: the caller's own, or the owner's of its key. */
  readonly wallet: string;
  /** What names its address, an IPv6 one by its network. Default: it has none, and only its wallet counts. */
  readonly client?: string | undefined;
}

/**
 * How much is changed. A change is written down for longer than it lasts (the audit log, events), and wallets and signing in cost nothing:
 * without an end to it whoever makes and takes back would fill the disk, by one wallet or by many.
 */
export interface ChangeLimit {
  /**
   * Counts a change that is about to be made, on all instances together: for its wallet, and for its address, which as many changes come
   * from as {@link ADDRESS_WALLETS} wallets make; from each wider network twice as many as from the one within it. Wallets to which
   * operators gave more than usual count for themselves alone. Operators have as many as they like, and while the counters cannot be
   * reached so has everybody.
   * @returns takes it back, where nothing was changed
   * @throws TollhouseError `rate_limited` beyond a bound, `store_unavailable` where the wallet's quota cannot be looked up
   */
  count(changer: Changer): Promise<() => void>;
}

/** Something that changes are counted for. */
interface Bound {
  readonly key: string;
  readonly most: number;
  readonly whose: 'wallet' | 'address';
}

/** Makes the limit of changes. */
export function createChangeLimit({ counters, usual, quotas, isOperator, now }: ChangeLimitParts): ChangeLimit {
  async function boundsOf({ wallet, client }: Changer): Promise<readonly Bound[]> {
    const { dailyChanges: most } = await quotas(wallet);
    const networks = client === undefined || most > usual ? [] : networksOfClient(client);
    return [
      { key: `changes:${wallet}`, most, whose: 'wallet' },
      ...networks.map((network, width): Bound => {
        return { key: `changes-from:${network}`, most: usual * ADDRESS_WALLETS * 2 ** width, whose: 'address' };
      }),
    ];
  }

  return {
    async count(changer) {
      if (isOperator(changer.wallet)) return () => {};
      const bounds = await boundsOf(changer);
      const takeBack = () => {
        for (const { key } of bounds) void counters.decrement(key).catch(() => {});
      };
      const counts = await Promise.all(bounds.map(({ key }) => counted(counters, key)));
      const usedUp = bounds.findIndex(({ most }, at) => (counts[at]?.count ?? 0) > most);
      const bound = bounds[usedUp];
      if (bound === undefined) return takeBack;
      takeBack();
      throw changesUsedUp({ ...bound, waitMs: (counts[usedUp]?.resetsAt ?? 0) - now() });
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
