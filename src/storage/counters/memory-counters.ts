import { LRUCache } from 'lru-cache';
import { TollhouseError } from '../../errors/errors.js';
import type { Counters, WindowCount } from './counters.js';

/** Bounds of the counters in memory. */
export interface MemoryCountersOptions {
  /** How many entries of each kind a space holds at most. Default 50,000. */
  readonly maxEntries?: number;
  /** Clock, milliseconds since the epoch. */
  readonly now?: () => number;
}

/** A window that is being counted in. */
type OpenWindow = { -readonly [Field in keyof WindowCount]: WindowCount[Field] };

type Space<V extends {}> = LRUCache<string, V>;

/** When a full space was searched for dead entries, the next search waits this long: a flood must not cost a scan each. */
const PURGE_PAUSE_MS = 1_000;

/** Counters in this process's memory: for one instance, and for tests. They are forgotten at exit. */
export function createMemoryCounters(options: MemoryCountersOptions = {}): Counters {
  const { maxEntries = 50_000, now = Date.now } = options;
  const marks = createSpaces<true>(maxEntries, now);
  const values = createSpaces<string>(maxEntries, now);
  const counts = createSpaces<OpenWindow>(maxEntries, now);

  function takeOnce(key: string, ttl: number): boolean {
    const space = marks.of(key);
    if (space.has(key)) return false;
    if (marks.isFull(space)) {
      const detail = 'Too much is remembered at once; try again shortly.';
      throw new TollhouseError('store_unavailable', detail, { retryAfterSeconds: 2 });
    }
    space.set(key, true, { ttl });
    return true;
  }

  function put(key: string, value: string, ttl: number): void {
    const space = values.of(key);
    values.isFull(space);
    space.set(key, value, { ttl });
  }

  function replace(key: string, expected: string, value: string, ttl: number): boolean {
    if (values.of(key).get(key) !== expected) return false;
    put(key, value, ttl);
    return true;
  }

  function increment(key: string, windowMs: number, by: number): WindowCount {
    const space = counts.of(key);
    const window = space.get(key) ?? { count: 0, resetsAt: now() + windowMs };
    if (window.count === 0) space.set(key, window, { ttl: Math.max(1, window.resetsAt - now()) });
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

interface Spaces<V extends {}> {
  /** The space that a key belongs to. */
  of(key: string): Space<V>;
  /** Whether a space is full of entries that live. */
  isFull(space: Space<V>): boolean;
  clear(): void;
}

function createSpaces<V extends {}>(max: number, now: () => number): Spaces<V> {
  const spaces = new Map<string, Space<V>>();
  const purgedAt = new WeakMap<Space<V>, number>();

  function of(key: string): Space<V> {
    const name = key.slice(0, key.indexOf(':') + 1);
    let space = spaces.get(name);
    if (space === undefined) {
      // Without `ttlResolution` the cache would remember the time of an injected clock for a real millisecond.
      space = new LRUCache<string, V>({ max, ttl: 1, ttlResolution: 0, perf: { now } });
      spaces.set(name, space);
    }
    return space;
  }

  function isFull(space: Space<V>): boolean {
    if (space.size < max) return false;
    if (now() - (purgedAt.get(space) ?? 0) >= PURGE_PAUSE_MS) {
      purgedAt.set(space, now());
      space.purgeStale();
    }
    return space.size >= max;
  }

  return { of, isFull, clear: () => spaces.clear() };
}
