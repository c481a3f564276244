import { badOption } from '../errors.js';
import type { Counters } from './counters.js';
import type { Ledger } from './ledger.js';
import { createMemoryCounters } from './memory-counters.js';
import { createMemoryLedger } from './memory-ledger.js';
import { openPostgres } from './postgres-database.js';
import { openRedisCounters } from './redis-counters.js';
import { createSqlCounters } from './sql-counters.js';
import type { SqlDatabase } from './sql-database.js';
import { createSqlLedger } from './sql-ledger.js';
import { openSqlite } from './sqlite-database.js';

/** Options of {@link openStorage}. */
export interface StorageOptions {
  /**
   * `redis://user:password@host:port/database` or `rediss://…`: rate limits are counted there. Default: in Postgres, or in
   * this process where the database is not shared.
   */
  readonly redisUrl?: string;
  /** Clock, milliseconds since the epoch. Instances that share a database must agree to within some seconds. */
  readonly now?: () => number;
}

/** Where a service keeps what it must not lose, and what it counts. */
export interface Storage {
  readonly ledger: Ledger;
  readonly counters: Counters;
  /**
   * Forgets a few entries that are of no more use: payments and payment requests that were over before a time, and marks,
   * values and counts that have expired. Call it from time to time until it answers 0.
   * @param before - milliseconds since the epoch
   * @param limit - how many of each kind go at most, and so how long it takes
   * @returns how many went
   */
  prune(before: number, limit: number): Promise<number>;
  /** Closes every connection; the ledger and the counters are of no use after it. */
  close(): Promise<void>;
}

const FORMS = 'it must be sqlite:<path of a file>, postgres://user:password@host:port/database or memory:';

/**
 * Opens a database, brings its schema up to date, and makes a ledger and counters on it (service.md §7). The packages
 * that a URL needs are loaded for that URL only: `better-sqlite3` and `kysely`, `pg` and `kysely`, `ioredis`.
 * @param databaseUrl - `sqlite:./data/tollhouse.db` (made when it is not there), `postgres://user:password@host:port/database`,
 * or `memory:`, which is forgotten at exit
 * @throws `bad_option` for a URL that cannot be used or a schema newer than this version, `missing_dependency` for a package
 * that is not installed or does not fit this Node, `store_unavailable` for a server that cannot be reached
 */
export async function openStorage(databaseUrl: string, options: StorageOptions = {}): Promise<Storage> {
  const { redisUrl, now = Date.now } = options;
  if (redisUrl !== undefined && !isUrlOf(['redis:', 'rediss:'], redisUrl)) {
    throw badOption('openStorage', 'option "redisUrl" must be redis:// or rediss:// and a host', 'redisUrl');
  }
  const base = await openBase(databaseUrl, now);
  if (redisUrl === undefined) return base;
  try {
    const redis = await openRedisCounters(redisUrl, { now });
    return {
      ...base,
      counters: withCounts(base.counters, redis),
      close: async () => void (await Promise.all([base.close(), redis.close()])),
    };
  } catch (error) {
    await base.close();
    throw error;
  }
}

async function openBase(databaseUrl: string, now: () => number): Promise<Storage> {
  if (databaseUrl === 'memory:') return inMemory(now);
  const path = /^sqlite:(?:\/\/)?(.+)$/.exec(databaseUrl)?.[1];
  if (path !== undefined) {
    const storage = onSql(await openSqlite(path), now);
    // A write to the disk for each request would be the slowest part of it, and nobody else shares these counts.
    return { ...storage, counters: withCounts(storage.counters, createMemoryCounters({ now })) };
  }
  if (isUrlOf(['postgres:', 'postgresql:'], databaseUrl)) return onSql(await openPostgres(databaseUrl), now);
  throw badOption('openStorage', `the database URL is wrong: ${FORMS}`, 'databaseUrl');
}

function inMemory(now: () => number): Storage {
  const ledger = createMemoryLedger({ now });
  const counters = createMemoryCounters({ now });
  const close = async () => void (await Promise.all([ledger.close(), counters.close()]));
  return { ledger, counters, prune: async () => 0, close };
}

function onSql(database: SqlDatabase, now: () => number): Storage {
  const ledger = createSqlLedger(database, now);
  const counters = createSqlCounters(database, now);
  return {
    ledger,
    counters,
    prune: async (before, limit) => (await ledger.prune(before, limit)) + (await counters.prune(limit)),
    close: () => database.close(),
  };
}

/**
 * Counts from one store, marks and values from another: a lost count lets a request pass, while a lost mark would let a
 * proof be used twice and a revoked token be good again (design.md §3: Redis is never the only one to know).
 */
function withCounts(base: Counters, { increment, decrement, reset }: Counters): Counters {
  return { ...base, increment, decrement, reset };
}

function isUrlOf(schemes: readonly string[], text: string): boolean {
  return URL.canParse(text) && schemes.includes(new URL(text).protocol) && text.includes('://');
}
