import { badOption } from '../errors.js';
import type { AnswerStore } from './answers.js';
import type { Counters } from './counters.js';
import { IN_MEMORY, isUrlOf, readDatabaseUrl } from './database-url.js';
import { createGatewayStores, type GatewayStores } from './gateway-stores.js';
import type { Ledger } from './ledger.js';
import { createMemoryCounters } from './memory-counters.js';
import { openPostgres } from './postgres-database.js';
import { openRedisCounters } from './redis-counters.js';
import { createSqlAnswers } from './sql-answers.js';
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
  /** The database under it, for the stores of the gateway. */
  readonly database: SqlDatabase;
  readonly ledger: Ledger;
  readonly counters: Counters;
  /** What a gateway keeps, in the same database as the ledger. */
  readonly gateway: GatewayStores;
  /** Answers that can be asked for again, encrypted; for 24 hours, at most 256 MiB. */
  readonly answers: AnswerStore;
  /**
   * Forgets a few entries that are of no more use: payments and payment requests from before a time, marks, values and
   * counts that have expired, and answers that are too old or too many. Call it from time to time until it answers 0. What
   * a gateway keeps has a method of its own.
   * @param before - milliseconds since the epoch
   * @param limit - how many of each kind go at most, and so how long it takes
   * @param booksBefore - the same for the books of the money: payments that were served; default `before`
   * @returns how many went
   */
  prune(before: number, limit: number, booksBefore?: number): Promise<number>;
  /** Closes every connection; the ledger and the counters are of no use after it. */
  close(): Promise<void>;
}

/**
 * Opens a database, brings its schema up to date, and makes a ledger and counters on it (service.md §7). The packages
 * that a URL needs are loaded for that URL only: `better-sqlite3` and `kysely` (also for `memory:`), `pg` and `kysely`, `ioredis`.
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
  const location = readDatabaseUrl(databaseUrl);
  if (location.dialect === 'postgres') return onSql(await openPostgres(location.url), now);
  const storage = onSql(await openSqlite(location.path), now, location.path === IN_MEMORY);
  // A write to the disk for each request would be the slowest part of it, and nobody else shares these counts.
  return { ...storage, counters: withCounts(storage.counters, createMemoryCounters({ now })) };
}

function onSql(database: SqlDatabase, now: () => number, isForgotten = false): Storage {
  const books = createSqlLedger(database, now);
  const ledger = isForgotten ? { ...books, remembersSince: now() } : books;
  const counters = createSqlCounters(database, now);
  const answers = createSqlAnswers(database, { now });
  const gateway = createGatewayStores(database, now);
  return {
    database,
    ledger,
    counters,
    answers,
    gateway,
    async prune(before, limit, booksBefore = before) {
      const payments = await ledger.prune(before, limit, booksBefore);
      return payments + (await counters.prune(limit)) + (await answers.prune(limit));
    },
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
