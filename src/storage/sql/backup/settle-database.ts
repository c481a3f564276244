import { readDatabaseUrl } from '../database-url.js';
import { lookAtPostgres, openUnsettled } from '../postgres-database.js';
import { readSchema } from '../schema-state.js';
import type { SqlDatabase } from '../sql-database.js';
import { openSqlite } from '../sqlite/sqlite-database.js';
import { type RestoredBooks, settleRestored } from './after-restore.js';
import { backupFailed } from './backup-error.js';

/**
 * Settles books that were restored in another way, or whose restore was broken off: see {@link settleRestored}. Makes none where there are
 * none.
 * @param now - milliseconds since the epoch
 * @throws TollhouseError `backup_failed` where there are none, and what `openStorage` throws
 */
export async function settleDatabase(databaseUrl: string, now: number): Promise<RestoredBooks> {
  const location = readDatabaseUrl(databaseUrl);
  if (location.dialect === 'postgres') return settlePostgres(location.url, now);
  const { made } = await readSchema(databaseUrl);
  if (made.length === 0) throw backupFailed('the database holds no books of Tollhouse');
  return settleSqlite(location.path, now);
}

/** The same of a Postgres database. */
export async function settlePostgres(url: string, now: number): Promise<RestoredBooks> {
  if ((await lookAtPostgres(url)) === 'none')
    throw backupFailed('the database holds no books of Tollhouse where its search_path leads');
  return settleOpen(await openUnsettled(url), now);
}

/** The same of a SQLite file that has books in it. */
export async function settleSqlite(file: string, now: number): Promise<RestoredBooks> {
  return settleOpen(await openSqlite(file), now);
}

async function settleOpen(database: SqlDatabase, now: number): Promise<RestoredBooks> {
  try {
    return await settleRestored(database, now);
  } finally {
    await database.close();
  }
}
