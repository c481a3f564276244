import type { Redis, RedisOptions } from 'ioredis';
import { badOption, TollhouseError } from '../../errors/errors.js';
import { whyNotLoaded } from '../../lib/optional-packages.js';
import { codeOf, lineOf } from '../sql/driver-error.js';
import type { Counters, WindowCount } from './counters.js';

/** Options of {@link openRedisCounters}. */
export interface RedisCountersOptions {
  /** Clock, milliseconds since the epoch. */
  readonly now?: () => number;
  /** What every key begins with, so that others can use the same Redis. Default `tollhouse:`. */
  readonly prefix?: string;
}

/** How long a response is waited for, in milliseconds. */
const RESPONSE_MS = 2_000;

/** Fails at once while the connection is lost, and keeps trying to get it back. Times in milliseconds. */
const CONNECTION = {
  lazyConnect: true,
  enableOfflineQueue: false,
  maxRetriesPerRequest: 0,
  connectTimeout: 5_000,
  commandTimeout: RESPONSE_MS,
  // A connection on which nothing comes is given up: what is asked while Redis hangs fails at once, and nobody but the next connection
  // waits for it to answer. One that is dead without a word is so replaced as well.
  socketTimeout: RESPONSE_MS,
  keepAlive: 10_000,
} as const satisfies RedisOptions;

const MAX_RETRY_MS = 2_000;

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

/**
 * Counters on Redis (6.2 or later), which closes with them. It may be told to forget what does not fit (`maxmemory-policy`):
 * then marks do not keep what they promise, so those belong elsewhere, see `open-storage.ts`.
 * @param url - `redis://user:password@host:port/database`, or `rediss://`
 * @throws `missing_dependency` without ioredis, `bad_option` or `store_unavailable` when it cannot be reached
 */
export async function openRedisCounters(url: string, options: RedisCountersOptions = {}): Promise<Counters> {
  const { now = Date.now, prefix = 'tollhouse:' } = options;
  const Driver = await loadDriver();
  let wasConnected = false;
  // A first connection that fails is a wrong URL more often than not; a lost one is sought for ever.
  const retryStrategy = (attempt: number) => (wasConnected ? Math.min(attempt * 50, MAX_RETRY_MS) : null);
  const redis = new Driver(url, { ...CONNECTION, keyPrefix: prefix, retryStrategy });
  // Unheard, this event would end the process; and it alone tells why a connection failed.
  let reason: unknown;
  redis.on('error', (error) => {
    reason = error;
  });
  try {
    await redis.connect();
    await redis.ping();
    wasConnected = true;
  } catch (cause) {
    if (redis.status !== 'end') redis.disconnect();
    throw cannotConnect(url, reason ?? cause);
  }
  return redisCounters(redis, now);
}

async function loadDriver(): Promise<typeof Redis> {
  try {
    return (await import('ioredis')).Redis;
  } catch (cause) {
    throw whyNotLoaded('openStorage', 'ioredis', cause);
  }
}

function cannotConnect(url: string, cause: unknown): TollhouseError {
  const detail = `cannot use the Redis at ${new URL(url).host} (${lineOf(cause)})`;
  if (/NOAUTH|WRONGPASS|NOPERM|ENOTFOUND/.test(`${codeOf(cause)} ${lineOf(cause)}`)) {
    return badOption('openStorage', `${detail}; correct the URL`, 'redisUrl');
  }
  return new TollhouseError('store_unavailable', `openStorage: ${detail}; is it running?`, { cause });
}

function redisCounters(redis: Redis, now: () => number): Counters {
  type Script = keyof typeof SCRIPTS;

  async function ask<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (cause) {
      const detail = 'Redis does not answer; try again shortly.';
      throw new TollhouseError('store_unavailable', detail, { retryAfterSeconds: 2, cause });
    }
  }

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
