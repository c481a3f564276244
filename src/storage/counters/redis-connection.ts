import { setTimeout as pause } from 'node:timers/promises';
import type { Redis, RedisOptions } from 'ioredis';
import { badOption, TollhouseError } from '../../errors/errors.js';
import { whyNotLoaded } from '../../lib/optional-packages.js';
import { codeOf, lineOf } from '../sql/driver-error.js';
import { isOfRedis, RedisRefused } from './refused.js';

/** A connection that is made anew whenever it is lost. */
export interface RedisConnection {
  readonly driver: Redis;
  /** Does something with Redis. Rejects with `store_unavailable`: {@link RedisRefused} where Redis has answered with an error. */
  ask<T>(work: () => Promise<T>): Promise<T>;
}

/** How long a response is waited for, in milliseconds. */
const RESPONSE_MS = 2_000;

/** Fails at once while the connection is lost, and keeps trying to get it back. Times in milliseconds. */
const CONNECTION = {
  lazyConnect: true,
  enableOfflineQueue: false,
  // Nothing is told while a ready check waits; without one Redis itself says to each call that it is loading.
  enableReadyCheck: false,
  maxRetriesPerRequest: 0,
  connectTimeout: 5_000,
  commandTimeout: RESPONSE_MS,
  // A connection on which nothing comes is given up: what is asked while Redis hangs fails at once, and nobody but the next connection
  // waits for it to answer. One that is dead without a word is so replaced as well.
  socketTimeout: RESPONSE_MS,
  keepAlive: 10_000,
} as const satisfies RedisOptions;

const MAX_RETRY_MS = 2_000;
const LOADING_MS = 30_000;
const LOADING_PAUSE_MS = 250;

/**
 * Connects, and has something written. A Redis that is still loading is waited for, 30 seconds at most.
 * @param write - shows that it can be written to
 * @throws `missing_dependency` without ioredis, `bad_option` for a URL that cannot be right, else `store_unavailable`
 */
export async function connectRedis(
  url: string,
  prefix: string,
  write: (driver: Redis) => Promise<unknown>,
): Promise<RedisConnection> {
  checkDatabase(url);
  const Driver = await loadDriver();
  let wasConnected = false;
  // A first connection that fails is a wrong URL more often than not; a lost one is sought for ever.
  // A connection that is made and of no use, as to a replica, is one more try.
  let tries = 0;
  const retryStrategy = () => {
    tries += 1;
    return wasConnected ? Math.min(tries * 50, MAX_RETRY_MS) : null;
  };
  const driver = new Driver(url, { ...CONNECTION, keyPrefix: prefix, retryStrategy, reconnectOnError });
  // Unheard, this event would end the process; and it alone tells why a connection failed.
  let reason: unknown;
  driver.on('error', (error) => {
    reason = error;
    // The driver goes on where a database cannot be selected, and would count in another one.
    if (isOfRedis(error)) driver.disconnect(true);
  });
  try {
    await driver.connect();
    await whenLoaded(() => write(driver));
    wasConnected = true;
  } catch (cause) {
    driver.disconnect();
    throw cannotConnect(url, isOfRedis(cause) ? cause : (reason ?? cause));
  }
  async function ask<T>(work: () => Promise<T>): Promise<T> {
    try {
      const answer = await work();
      [reason, tries] = [undefined, 0];
      return answer;
    } catch (cause) {
      if (isOfRedis(cause)) reason = cause;
      throw failure(reason ?? cause);
    }
  }
  return { driver, ask };
}

async function loadDriver(): Promise<typeof Redis> {
  try {
    return (await import('ioredis')).Redis;
  } catch (cause) {
    throw whyNotLoaded('openStorage', 'ioredis', cause);
  }
}

/** The driver takes what is no number for database 0. */
function checkDatabase(url: string): void {
  if (/^\/?$|^\/\d{1,9}$/.test(new URL(url).pathname)) return;
  const detail = 'option "redisUrl" must end with the number of a database or with none: redis://host:port/0';
  throw badOption('openStorage', detail, 'redisUrl');
}

/** Whether a connection is given up for what Redis has said: after a failover its address leads to the new primary. */
const reconnectOnError = (error: Error): boolean => new RedisRefused(error).isOfReplica;

async function whenLoaded(write: () => Promise<unknown>): Promise<void> {
  const until = performance.now() + LOADING_MS;
  for (;;) {
    try {
      return void (await write());
    } catch (cause) {
      const isLoading = isOfRedis(cause) && new RedisRefused(cause).word === 'LOADING';
      if (!isLoading || performance.now() > until) throw cause;
    }
    await pause(LOADING_PAUSE_MS);
  }
}

function failure(cause: unknown): TollhouseError {
  if (isOfRedis(cause)) return new RedisRefused(cause);
  const detail = 'Redis does not answer; try again shortly.';
  return new TollhouseError('store_unavailable', detail, { retryAfterSeconds: 2, cause });
}

function cannotConnect(url: string, cause: unknown): TollhouseError {
  const detail = `cannot use the Redis at ${new URL(url).host} (${lineOf(cause)})`;
  if (!isOfRedis(cause) && codeOf(cause) !== 'ENOTFOUND') {
    return new TollhouseError('store_unavailable', `openStorage: ${detail}; is it running?`, { cause });
  }
  if (!isOfRedis(cause)) return badOption('openStorage', `${detail}; correct the URL`, 'redisUrl');
  const { isOfUrl, advice } = new RedisRefused(cause);
  if (isOfUrl) return badOption('openStorage', `${detail}; ${advice}`, 'redisUrl');
  return new TollhouseError('store_unavailable', `openStorage: ${detail}; ${advice}`, { cause });
}
