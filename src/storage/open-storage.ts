import type { Storage, StorageOptions } from './storage.js';

/**
 * Opens a database, brings its schema up to date, and makes a ledger and counters on it. The package that a URL needs is
 * loaded for that URL only: `pg`, `ioredis`, and for SQLite, also `memory:`, `better-sqlite3` on Node 20 and 22 and none later.
 * @param databaseUrl - `sqlite:./data/tollhouse.db` (made when it is not there), `postgres://user:password@host:port/database`,
 * or `memory:`, which is forgotten at exit
 * @throws `bad_option` for a URL that cannot be used or a schema newer than this version, `missing_dependency` for a package
 * that is not installed or does not fit this Node, `store_unavailable` for a server that cannot be reached
 */
export async function openStorage(databaseUrl: string, options: StorageOptions = {}): Promise<Storage> {
  // All that knows SQL is loaded with the first database, not with the package.
  const { openSqlStorage } = await import('./sql-storage.js');
  return openSqlStorage(databaseUrl, options);
}
