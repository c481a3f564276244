import { boundedCache } from '../lib/bounded-cache.js';
import { type MaybePromise, whenKnownOr } from '../lib/maybe-promise.js';
import type { Counters } from '../storage/counters/counters.js';

/** What lock-outs are made with. */
export interface LockOutSetup {
  /** What is counted; other lock-outs on the same counters count elsewhere. */
  readonly space: string;
  readonly counters: Pick<Counters, 'increment' | 'put' | 'get'>;
  /** Failures within a minute that lock a client out. */
  readonly failures: number;
  /** Told when the counters cannot be reached; nobody is locked out then. */
  readonly onStoreError: (error: unknown) => void;
  /** Clock, milliseconds since the epoch. */
  readonly now: () => number;
}

/**
 * Who has failed too often to prove who they are: for a minute at first, twice as long each further time within a day, an hour at
 * most. Whoever asks refuses their failures and lets what is right pass: failures can come from a page of somebody else, shown to the
 * one whose address it is.
 */
export interface LockOuts {
  /**
   * For how many milliseconds more a client is locked out; zero or less when it is not. What another process has locked is
   * known here a second later, and at once to whoever fails here.
   */
  lockedFor(client: string): MaybePromise<number>;
  /** Counts a failure, and locks the client out when it is one too many. */
  countFailure(client: string): Promise<void>;
  /** Locks a client out now. */
  lock(client: string): Promise<void>;
}

const MINUTE_MS = 60_000;
const LONGEST_LOCK_MS = 60 * MINUTE_MS;
/** So long after its first lock-out a client is a stranger again. */
const MEMORY_MS = 24 * 60 * MINUTE_MS;
/** How long a client that was not locked out is let pass without another look: most never fail. */
const FREE_MS = 1_000;
/** How many clients of each kind are remembered in this process. */
const MAX_CLIENTS = 10_000;

/** Keeps lock-outs in counters. */
export function createLockOuts({ space, counters, failures, onStoreError, now }: LockOutSetup): LockOuts {
  /** Clients that were not locked out, and when that was. */
  const free = boundedCache<string, number>({ max: MAX_CLIENTS });
  /** Clients that are locked out, and until when: they may ask as often as they like. */
  const locked = boundedCache<string, number>({ max: MAX_CLIENTS });
  /** Rises with each failure: what was read before one is not remembered after it. */
  let epoch = 0;

  function forget(client: string): void {
    epoch += 1;
    free.delete(client);
  }

  function lockedFor(client: string): MaybePromise<number> {
    const time = now();
    const seenAt = free.get(client);
    if (seenAt !== undefined && time >= seenAt && time < seenAt + FREE_MS) return 0;
    const until = locked.get(client) ?? 0;
    if (until > time) return until - time;
    return lookUp(client, time, epoch);
  }

  function lookUp(client: string, time: number, begun: number): MaybePromise<number> {
    function remaining(until: string | undefined): number {
      const lockedMs = Number(until ?? 0) - time;
      if (lockedMs > 0) locked.set(client, time + lockedMs);
      else if (begun === epoch) free.set(client, time);
      return lockedMs;
    }
    return whenKnownOr(() => counters.get(`${space}-lock:${client}`), remaining, unlocked);
  }

  function unlocked(error: unknown): number {
    onStoreError(error);
    return 0;
  }

  async function lock(client: string): Promise<void> {
    try {
      const { count: times } = await counters.increment(`${space}-lock-outs:${client}`, MEMORY_MS);
      const lockMs = Math.min(MINUTE_MS * 2 ** (times - 1), LONGEST_LOCK_MS);
      await counters.put(`${space}-lock:${client}`, String(now() + lockMs), lockMs);
    } catch (error) {
      onStoreError(error);
    } finally {
      forget(client);
    }
  }

  async function countFailure(client: string): Promise<void> {
    try {
      const { count } = await counters.increment(`${space}-failures:${client}`, MINUTE_MS);
      // Attempts that were under way together count on; one of them locks.
      if (count === failures) await lock(client);
    } catch (error) {
      onStoreError(error);
    } finally {
      forget(client);
    }
  }

  return { lockedFor, countFailure, lock };
}
