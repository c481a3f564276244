import { statfs } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { z } from 'zod';
import { badOption } from '../errors/errors.js';
import { defined } from '../lib/defined.js';
import { namingAllMissing } from '../lib/optional-packages.js';
import { resolveOptions } from '../lib/options.js';
import type { Counters } from './counters/counters.js';
import { createMemoryCounters } from './counters/memory-counters.js';
import { openRedisCounters } from './counters/redis-counters.js';
import { createSqlCounters } from './counters/sql-counters.js';
import { createGatewayStores } from './gateway-stores.js';
import { HELD_MEMORY_MS } from './held/held-times.js';
import { createSqlHeldTimes } from './held/sql-held-times.js';
import { createSqlIdempotencyStore } from './idempotency/sql-idempotency-store.js';
import type { Ledger } from './ledger/ledger.js';
import { createSqlLedger } from './ledger/sql-ledger.js';
import { createSqlPassStore } from './passes/sql-pass-store.js';
import { createSqlRefundStore } from './payouts/sql-refund-store.js';
import { readLostPeriod } from './sql/backup/moments.js';
import { lookAtServer } from './sql/backup/server-history.js';
import { IN_MEMORY, isUrlOf, readDatabaseUrl } from './sql/database-url.js';
import { packagesFor } from './sql/needed-packages.js';
import { openPostgres } from './sql/postgres-database.js';
import type { SqlDatabase } from './sql/sql-database.js';
import { type FilesInPlace, filesInPlace } from './sql/sqlite/file-in-place.js';
import { openSqlite } from './sql/sqlite/sqlite-database.js';
import type { Storage, StorageOptions } from './storage.js';

const PROBE = 'health:write';
const PROBE_MS = 60_000;

const storageOptions = z.strictObject({
  redisUrl: z.string('redis:// or rediss:// and a host').optional(),
  now: z
    .custom<() => number>((it) => typeof it === 'function', 'a function that answers milliseconds')
    .default(() => Date.now),
});

/** What `openStorage` answers. */
export async function openSqlStorage(databaseUrl: string, options: StorageOptions): Promise<Storage> {
  const { redisUrl, now } = resolveOptions('openStorage', storageOptions, options);
  if (redisUrl !== undefined && !isUrlOf(['redis:', 'rediss:'], redisUrl)) {
    throw badOption('openStorage', 'option "redisUrl" must be redis:// or rediss:// and a host', 'redisUrl');
  }
  return namingAllMissing('openStorage', packagesFor(databaseUrl, redisUrl), () => open(databaseUrl, redisUrl, now));
}

async function open(databaseUrl: string, redisUrl: string | undefined, now: () => number): Promise<Storage> {
  const base = await openBase(databaseUrl, now);
  if (redisUrl === undefined) return base;
  try {
    const redis = await openRedisCounters(redisUrl, { now });
    return {
      ...base,
      counters: withCounts(base.counters, redis),
      dailyCounters: redis,
      close: async () => void (await Promise.all([base.close(), redis.close()])),
    };
  } catch (error) {
    await base.close();
    throw error;
  }
}

async function openBase(databaseUrl: string, now: () => number): Promise<Storage> {
  const location = readDatabaseUrl(databaseUrl);
  if (location.dialect === 'postgres') return onSql(await withMemory(await openPostgres(location.url)), now);
  const isForgotten = location.path === IN_MEMORY;
  const opened = await openSqlite(location.path);
  const storage = isForgotten
    ? onSql({ database: opened, memory: { remembersSince: now() } }, now)
    : onSql(await withMemory(opened), now, lookAtFile(resolve(location.path)));
  // A write to the disk for each request would be the slowest part of it, and nobody else shares these counts.
  return { ...storage, counters: withCounts(storage.counters, createMemoryCounters({ now })) };
}

/** A database, and what its books remember. */
interface Books {
  readonly database: SqlDatabase;
  readonly memory: Pick<Ledger, 'remembersSince' | 'remembersUntil'>;
}

async function withMemory(database: SqlDatabase): Promise<Books> {
  try {
    await lookAtServer(database);
    const lost = await readLostPeriod(database);
    return { database, memory: lost === undefined ? {} : { remembersUntil: lost.from, remembersSince: lost.to } };
  } catch (error) {
    await database.close();
    throw error;
  }
}

/** What is told of a database that is a file of this machine. */
interface FileLook extends FilesInPlace {
  freeBytes(): Promise<number | undefined>;
}

/** Looks at a file that has just been opened, now and later. */
function lookAtFile(path: string): FileLook {
  return { freeBytes: () => freeBytesAt(dirname(path)).catch(() => undefined), ...filesInPlace(path) };
}

async function freeBytesAt(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
}

/** @param look - at the file that the database is. Default: it is none */
function onSql({ database, memory }: Books, now: () => number, look?: FileLook): Storage {
  const ledger = { ...createSqlLedger(database, now), ...memory };
  const counters = createSqlCounters(database, now);
  const passes = createSqlPassStore(database, now);
  const idempotency = createSqlIdempotencyStore(database, { now });
  const heldTimes = createSqlHeldTimes(database);
  const gateway = createGatewayStores(database, now);
  let isClosing = false;
  /** SQLite takes away itself what stood beside a file that it closes. */
  const gone = (maxAgeMs?: number) => (isClosing ? undefined : look?.gone(maxAgeMs));
  return {
    database,
    ledger,
    counters,
    dailyCounters: counters,
    passes,
    refunds: createSqlRefundStore(database, now),
    idempotency,
    gateway,
    heldTimes,
    async prune(before, limit, booksBefore = before) {
      const payments = await ledger.prune(before, limit, booksBefore);
      const expired = (await counters.prune(limit)) + (await heldTimes.prune(now() - HELD_MEMORY_MS, limit));
      const rest = (await idempotency.prune(limit)) + (await passes.prune(before, limit, booksBefore));
      return payments + expired + rest;
    },
    async probe() {
      const [writable, freeBytes] = await Promise.all([
        counters.put(PROBE, '', PROBE_MS).then(
          () => true,
          () => false,
        ),
        look?.freeBytes(),
        // After a failover it is another one, while this process has gone on.
        lookAtServer(database),
      ]);
      return { writable, ...defined({ freeBytes, moved: gone(0) === undefined ? undefined : true }) };
    },
    misplaced: () => gone(),
    async close() {
      isClosing = true;
      await database.close();
      look?.close();
    },
  };
}

/**
 * Counts from one store, marks and values from another: a lost count lets a request pass, while a lost mark would let a
 * proof be used twice and a revoked token be good again (Redis is never the only one to know).
 */
function withCounts(base: Counters, { increment, decrement, reset }: Counters): Counters {
  return { ...base, increment, decrement, reset };
}
