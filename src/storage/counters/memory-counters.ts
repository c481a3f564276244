import type { LRUCache } from 'lru-cache';
import { TollhouseError } from '../../errors/errors.js';
import { boundedCache } from '../../lib/bounded-cache.js';
import type { Counters, WindowCount } from './counters.js';
import { createMemoryMarks } from './memory-marks.js';

/** Bounds of the counters in memory. */
export interface MemoryCountersOptions {
  /** How many values a space holds at most, and how many counts: one more pushes out what was not used for longest. Default 50,000. */
  readonly maxEntries?: number | undefined;
  /**
   * How many marks a space holds at most: one more is refused with `store_unavailable` until one has died. Default twenty times
   * `maxEntries`: they are small and most live for minutes, in which one process does not come to so many.
   */
  readonly maxMarks?: number | undefined;
  /** Clock, milliseconds since the epoch. */
  readonly now?: (() => number) | undefined;
}

/** A window that is being counted in. */
type OpenWindow = { -readonly [Field in keyof WindowCount]: WindowCount[Field] };

const MARKS_AN_ENTRY = 20;
/** When a full space was searched for dead entries, the next search waits this long: a flood must not cost a scan each. */
const PURGE_PAUSE_MS = 1_000;

/**
 * Counters in this process's memory: for one instance, and for tests. They are forgotten at exit. Sessions and delegations are values:
 * more than `maxEntries` of them need a storage. A first one that is pushed out alive is warned of.
 */
export function createMemoryCounters(options: MemoryCountersOptions = {}): Counters {
  const { maxEntries = 50_000, now = Date.now } = options;
  const { maxMarks = MARKS_AN_ENTRY * maxEntries } = options;
  const marks = createSpaces(() => createMemoryMarks(maxMarks, now));
  const values = createSpaces((name) => createCache<string>(maxEntries, now, () => warnOfLoss(name, maxEntries)));
  const counts = createSpaces(() => createCache<OpenWindow>(maxEntries, now));

  function takeOnce(key: string, ttl: number): boolean {
    const outcome = marks.of(key).take(key, ttl);
    if (outcome !== 'full') return outcome === 'taken';
    const detail = 'Too much is remembered at once; try again shortly.';
    throw new TollhouseError('store_unavailable', detail, { retryAfterSeconds: 2 });
  }

  function put(key: string, value: string, ttl: number): void {
    values.of(key).put(key, value, ttl);
  }

  function replace(key: string, expected: string | undefined, value: string, ttl: number): boolean {
    if (values.of(key).get(key) !== expected) return false;
    put(key, value, ttl);
    return true;
  }

  function increment(key: string, windowMs: number, by: number): WindowCount {
    const space = counts.of(key);
    const window = space.get(key) ?? { count: 0, resetsAt: now() + windowMs };
    if (window.count === 0) space.put(key, window, Math.max(1, window.resetsAt - now()));
    window.count += by;
    return { count: window.count, resetsAt: window.resetsAt };
  }

  function decrement(key: string): void {
    const window = counts.of(key).get(key);
    if (window !== undefined && window.count > 0) window.count -= 1;
  }

  return {
    takeOnce: async (key, ttlMs) => takeOnce(key, ttlMs),
    anyTaken: (keys) => keys.some((key) => marks.of(key).has(key)),
    put: async (key, value, ttlMs) => put(key, value, ttlMs),
    get: (key) => values.of(key).get(key),
    replace: async (key, expected, value, ttlMs) => replace(key, expected, value, ttlMs),
    remove: async (key) => void values.of(key).delete(key),
    increment: (key, windowMs, by = 1) => increment(key, windowMs, by),
    decrement: async (key) => decrement(key),
    reset: async (key) => void counts.of(key).delete(key),
    close: async () => {
      for (const spaces of [marks, values, counts]) spaces.clear();
    },
  };
}

/** Makes the space that a key belongs to when there is none. */
function createSpaces<S>(create: (name: string) => S) {
  const spaces = new Map<string, S>();
  return {
    of(key: string): S {
      const name = key.slice(0, key.indexOf(':') + 1);
      const space = spaces.get(name) ?? create(name);
      spaces.set(name, space);
      return space;
    },
    clear: () => spaces.clear(),
  };
}

/** A space of entries that may be forgotten early. */
function createCache<V extends {}>(max: number, now: () => number, onFirstLost?: () => void) {
  let purgedAt = Number.NEGATIVE_INFINITY;
  let hasLost = onFirstLost === undefined;
  const entries: LRUCache<string, V> = boundedCache<string, V>({
    max,
    ttl: 1,
    // Without `ttlResolution` the cache would remember the time of an injected clock for a real millisecond.
    ttlResolution: 0,
    perf: { now },
    dispose: (_value, key, reason) => {
      if (hasLost || reason !== 'evict' || entries.getRemainingTTL(key) <= 0) return;
      hasLost = true;
      onFirstLost?.();
    },
  });
  return {
    get: (key: string) => entries.get(key),
    delete: (key: string) => entries.delete(key),
    put(key: string, value: V, ttl: number): void {
      if (entries.size >= max && now() - purgedAt >= PURGE_PAUSE_MS) {
        purgedAt = now();
        entries.purgeStale();
      }
      entries.set(key, value, { ttl });
    },
  };
}

function warnOfLoss(space: string, max: number): void {
  const detail = `more than ${max} entries "${space}" live in this process's memory, and what was not used for longest is forgotten: sessions and delegations end before their time. Keep them in a storage (openStorage), or give createMemoryCounters a larger "maxEntries"`;
  process.emitWarning(detail, { code: 'TOLLHOUSE_MEMORY_FULL' });
}
