import type { Store } from 'express-rate-limit';
import type { MaybePromise } from '../../lib/maybe-promise.js';

/** What limits need of `Counters`; see there. */
export interface LimitCounters {
  increment(key: string, windowMs: number): MaybePromise<{ readonly count: number; readonly resetsAt: number }>;
  decrement(key: string): Promise<void>;
  reset(key: string): Promise<void>;
  put(key: string, value: string, ttlMs: number): Promise<void>;
  get(key: string): MaybePromise<string | undefined>;
}

/**
 * A store of express-rate-limit that counts in shared counters.
 * @param space - what is counted; other limits on the same counters count elsewhere
 * @param windowMs - length of a window, in milliseconds
 */
export function createLimitStore(counters: LimitCounters, space: string, windowMs: number): Store {
  const prefix = `limit-${space}:`;
  return {
    prefix,
    localKeys: false,
    async increment(key) {
      const { count, resetsAt } = await counters.increment(prefix + key, windowMs);
      return { totalHits: count, resetTime: new Date(resetsAt) };
    },
    decrement: (key) => counters.decrement(prefix + key),
    resetKey: (key) => counters.reset(prefix + key),
  };
}
