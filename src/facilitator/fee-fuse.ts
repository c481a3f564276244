import { TollhouseError } from '../errors.js';
import type { NetworkId } from '../protocol/types.js';
import type { Counters, WindowCount } from '../storage/counters.js';
import { createMemoryCounters } from '../storage/memory-counters.js';
import type { FacilitatorHealth } from './health.js';

/**
 * Bounds what may be spent on network fees in an hour, whatever is found to make us pay: beyond it nothing is signed. The hour
 * is a fixed one, begun by its first fee.
 */
export interface FeeFuse {
  /**
   * Counts a fee before it is signed for; one that would pass the bound is not counted. Answers the function that takes it
   * back, for a transaction that did not leave.
   * @param lamports - the most that the transaction can cost
   * @throws TollhouseError `fee_limit_reached`, with the rest of the hour to wait
   */
  take(lamports: bigint): Promise<() => void>;
  /** The same without counting, for what is to be signed only after some more work: rejects where there is no room for it. */
  reach(lamports: bigint): Promise<void>;
  /** Why nothing is signed for at the moment; undefined while it is. */
  fault(): TollhouseError | undefined;
}

/** What a fuse works with. */
export interface FeeFuseParts {
  readonly network: NetworkId;
  /** Most for an hour, in lamports, of all instances that share the counters. */
  readonly maxFeesPerHour: bigint;
  /** Where it is counted. Default, and while they cannot be reached: this process's memory. */
  readonly counters: Pick<Counters, 'increment'> | undefined;
  /** Clock, milliseconds since the epoch. */
  readonly now: () => number;
  /**
   * Called once in each hour in which the bound is met.
   * @param endsAt - end of the hour, milliseconds since the epoch
   */
  onBlown(endsAt: number): void;
}

/** Lamports that were counted in an hour and are not spent yet. */
interface Reserve {
  left: number;
  /** End of the hour by the clock of the counters. */
  readonly resetsAt: number;
  /** End of the hour by ours. */
  readonly endsAt: number;
}

const HOUR_MS = 3_600_000;
/**
 * So many times at most the shared counters are asked in an hour: they would be the narrowest place of a busy service.
 * Of several instances, each may so leave a hundredth of the bound unused.
 */
const SHARES = 100;
/** Where the clock of the counters is behind ours, their hour is not over for us either, and they are asked no more often. */
const MIN_REST_MS = 1_000;

/** Makes a fuse. Nothing is counted before the first fee. */
export function createFeeFuse({ network, maxFeesPerHour, counters, now, onBlown }: FeeFuseParts): FeeFuse {
  const key = `fees:${network}`;
  const limit = Number(maxFeesPerHour);
  const share = Math.max(1, Math.floor(limit / SHARES));
  const own = createMemoryCounters({ now });
  let reserve: Reserve = { left: 0, resetsAt: 0, endsAt: 0 };
  let blownUntil = 0;
  let toldFor = 0;
  let refilling: Promise<void> | undefined;

  async function count(lamports: number): Promise<WindowCount> {
    // An outage of the counters must not stop payments; each process keeps the bound for itself then.
    try {
      return await (counters ?? own).increment(key, HOUR_MS, lamports);
    } catch {
      return own.increment(key, HOUR_MS, lamports);
    }
  }

  async function refill(fee: number): Promise<void> {
    const asked = Math.max(share, fee);
    const { count: counted, resetsAt } = await count(asked);
    const granted = Math.max(0, Math.min(asked, limit - (counted - asked)));
    const left = (reserve.resetsAt === resetsAt ? reserve.left : 0) + granted;
    const endsAt = Math.max(resetsAt, now() + MIN_REST_MS);
    if (reserve.resetsAt !== resetsAt || reserve.endsAt !== endsAt) reserve = { left, resetsAt, endsAt };
    else reserve.left = left;
    if (left >= fee) return;
    blownUntil = endsAt;
    if (toldFor === resetsAt) return;
    toldFor = resetsAt;
    onBlown(blownUntil);
  }

  function spend(fee: number): (() => void) | undefined {
    const from = reserve;
    if (from.endsAt <= now() || from.left < fee) return undefined;
    from.left -= fee;
    return () => {
      from.left += fee;
      if (from === reserve) blownUntil = 0;
    };
  }

  function fault(): TollhouseError | undefined {
    const restMs = blownUntil - now();
    if (restMs <= 0) return undefined;
    const detail = `No more network fees are paid on ${network} in this hour; nothing was charged. The same payment can be sent again then.`;
    return new TollhouseError('fee_limit_reached', detail, { retryAfterSeconds: Math.ceil(restMs / 1_000) });
  }

  async function take(lamports: bigint): Promise<() => void> {
    const fee = Number(lamports);
    for (;;) {
      const stopped = fault();
      if (stopped !== undefined) throw stopped;
      const giveBack = spend(fee);
      if (giveBack !== undefined) return giveBack;
      refilling ??= refill(fee).finally(() => {
        refilling = undefined;
      });
      await refilling;
    }
  }

  return { fault, take, reach: async (lamports) => (await take(lamports))() };
}

/** The health of a facilitator with what its fuse says. */
export function withFeeLimit(health: FacilitatorHealth, fuse: FeeFuse): FacilitatorHealth {
  if (fuse.fault() === undefined) return health;
  return { ...health, status: 'down', faults: [...health.faults, 'fee_limit_reached'] };
}
