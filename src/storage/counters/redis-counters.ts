import type { Counters, WindowCount } from './counters.js';
import { connectRedis, type RedisConnection } from './redis-connection.js';

/** Options of {@link openRedisCounters}. */
export interface RedisCountersOptions {
  /** Clock, milliseconds since the epoch. */
  readonly now?: () => number;
  /** What every key begins with, so that others can use the same Redis. Default `tollhouse:`. */
  readonly prefix?: string;
}

/**
 * Every entry carries its own end, in the time of the clock that was given; Redis's expiry clears away what is over.
 * `KEYS[1]` is the key and `ARGV[1]` the time in all of them; each is one atomic step.
 */
const SCRIPTS = {
  /** ARGV: now, ttl. */
  take: `local ends = redis.call('GET', KEYS[1])
    if ends and tonumber(ends) > tonumber(ARGV[1]) then return 0 end
    redis.call('SET', KEYS[1], string.format('%.0f', ARGV[1] + ARGV[2]), 'PX', ARGV[2])
    return 1`,
  /** ARGV: now, expected, value, ttl. */
  replace: `local kept = redis.call('HMGET', KEYS[1], 'value', 'ends')
    if kept[1] ~= ARGV[2] or tonumber(kept[2]) <= tonumber(ARGV[1]) then return 0 end
    redis.call('HSET', KEYS[1], 'value', ARGV[3], 'ends', string.format('%.0f', ARGV[1] + ARGV[4]))
    redis.call('PEXPIRE', KEYS[1], ARGV[4])
    return 1`,
  /** ARGV: now, value, ttl. */
  add: `local ends = redis.call('HGET', KEYS[1], 'ends')
    if ends and tonumber(ends) > tonumber(ARGV[1]) then return 0 end
    redis.call('HSET', KEYS[1], 'value', ARGV[2], 'ends', string.format('%.0f', ARGV[1] + ARGV[3]))
    redis.call('PEXPIRE', KEYS[1], ARGV[3])
    return 1`,
  /** ARGV: now, value, ttl. */
  put: `redis.call('HSET', KEYS[1], 'value', ARGV[2], 'ends', string.format('%.0f', ARGV[1] + ARGV[3]))
    redis.call('PEXPIRE', KEYS[1], ARGV[3])
    return 1`,
  /** ARGV: now, window, by. */
  increment: `local ends = redis.call('HGET', KEYS[1], 'ends')
    if not ends or tonumber(ends) <= tonumber(ARGV[1]) then
      ends = string.format('%.0f', ARGV[1] + ARGV[2])
      redis.call('HSET', KEYS[1], 'count', 0, 'ends', ends)
      redis.call('PEXPIRE', KEYS[1], ARGV[2])
    end
    return { redis.call('HINCRBY', KEYS[1], 'count', ARGV[3]), ends }`,
  /** ARGV: now. */
  decrement: `local kept = redis.call('HMGET', KEYS[1], 'count', 'ends')
    if not kept[1] or tonumber(kept[2]) <= tonumber(ARGV[1]) or tonumber(kept[1]) < 1 then return 0 end
    return redis.call('HINCRBY', KEYS[1], 'count', -1)`,
} as const;

/** Written to at the start, as only a write shows that limits can be counted. */
const PROBE = 'health:start';
const PROBE_WINDOW_MS = 60_000;

/**
 * Counters on Redis (6.2 or later), which closes with them. It may be told to forget what does not fit (`maxmemory-policy`):
 * then marks do not keep what they promise, so those belong elsewhere, see `open-storage.ts`. One that is still loading is waited for.
 * @param url - `redis://user:password@host:port/database`, or `rediss://`
 * @throws `missing_dependency` without ioredis, `bad_option` or `store_unavailable` when it cannot be reached or takes no writes
 */
export async function openRedisCounters(url: string, options: RedisCountersOptions = {}): Promise<Counters> {
  const { now = Date.now, prefix = 'tollhouse:' } = options;
  const redis = await connectRedis(url, prefix, (opened) =>
    opened.eval(SCRIPTS.increment, 1, count(PROBE), now(), PROBE_WINDOW_MS, 1),
  );
  return redisCounters(redis, now);
}

function redisCounters({ driver: redis, ask }: RedisConnection, now: () => number): Counters {
  type Script = keyof typeof SCRIPTS;

  const run = (script: Script, key: string, ...values: (string | number)[]): Promise<unknown> =>
    ask(() => redis.eval(SCRIPTS[script], 1, key, now(), ...values));

  async function anyTaken(keys: readonly string[]): Promise<boolean> {
    if (keys.length === 0) return false;
    const ends = await ask(() => redis.mget(keys.map(mark)));
    return ends.some((end) => end !== null && Number(end) > now());
  }

  async function get(key: string): Promise<string | undefined> {
    const [kept, ends] = await ask(() => redis.hmget(value(key), 'value', 'ends'));
    return Number(ends) > now() ? (kept ?? undefined) : undefined;
  }

  async function increment(key: string, windowMs: number, by = 1): Promise<WindowCount> {
    const [counted, ends] = (await run('increment', count(key), whole(windowMs), by)) as [number, string];
    return { count: counted, resetsAt: Number(ends) };
  }

  return {
    anyTaken,
    get,
    increment,
    takeOnce: async (key, ttlMs) => (await run('take', mark(key), whole(ttlMs))) === 1,
    put: async (key, text, ttlMs) => void (await run('put', value(key), text, whole(ttlMs))),
    replace: async (key, expected, text, ttlMs) =>
      (await (expected === undefined
        ? run('add', value(key), text, whole(ttlMs))
        : run('replace', value(key), expected, text, whole(ttlMs)))) === 1,
    remove: async (key) => void (await ask(() => redis.del(value(key)))),
    decrement: async (key) => void (await run('decrement', count(key))),
    reset: async (key) => void (await ask(() => redis.del(count(key)))),
    close: async () => redis.disconnect(),
  };
}

const mark = (key: string): string => `mark:${key}`;
const value = (key: string): string => `value:${key}`;
const count = (key: string): string => `count:${key}`;

/** A time that Redis takes: whole milliseconds, at least one. */
const whole = (milliseconds: number): number => Math.max(1, Math.ceil(milliseconds));
