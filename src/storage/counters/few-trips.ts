import { boundedCache } from '../../lib/bounded-cache.js';
import { type MaybePromise, whenKnown } from '../../lib/maybe-promise.js';
import type { Counters, WindowCount } from './counters.js';

/** What {@link countFewTrips} works with. */
export interface FewTripsParts {
  readonly counters: Pick<Counters, 'increment'>;
  /** How long the windows are, in milliseconds. */
  readonly windowMs: number;
  /** Clock, milliseconds since the epoch. */
  readonly now: () => number;
}

/**
 * Counts one more under a key. Rejects, or throws, as `Counters.increment` does.
 * @param limit - what is looked for: beyond half of it every count is exact
 */
export type CountFewTrips = (key: string, limit: number) => MaybePromise<WindowCount>;

interface Window {
  resetsAt: number;
  /** What is counted there, as far as this process knows, with what it is just telling. */
  told: number;
  /** What it has not told there. */
  untold: number;
}

/** So much of a limit a process counts by itself before it tells the others. */
const UNTOLD_SHARE = 1 / 8;
const EXACT_FROM = 1 / 2;
const MAX_KEYS = 10_000;

/**
 * Counts for limits that instances share without a trip to where they are counted for each: an eighth of a limit is counted in this
 * process and told with the next one, as long as less than half is used up. Limits below 8 are always counted there. One instance
 * is exact; each other one may let in an eighth more.
 */
export function countFewTrips({ counters, windowMs, now }: FewTripsParts): CountFewTrips {
  const windows = boundedCache<string, Window>({ max: MAX_KEYS });

  function windowOf(key: string): Window {
    const time = now();
    const known = windows.get(key);
    if (known !== undefined && time <= known.resetsAt) return known;
    const opened = { resetsAt: time + windowMs, told: 0, untold: 0 };
    windows.set(key, opened);
    return opened;
  }

  return (key, limit) => {
    const window = windowOf(key);
    const count = window.told + window.untold + 1;
    if (window.untold < Math.floor(limit * UNTOLD_SHARE) && count <= limit * EXACT_FROM) {
      window.untold += 1;
      return { count, resetsAt: window.resetsAt };
    }
    const by = window.untold + 1;
    window.told += by;
    window.untold = 0;
    return whenKnown(counters.increment(key, windowMs, by), (told) => {
      window.told = Math.max(window.told, told.count);
      window.resetsAt = told.resetsAt;
      return told;
    });
  };
}
