import { loadSqliteDriver } from '../../../src/storage/sql/sqlite/load-sqlite-driver.js';
import type { SqliteConnection } from '../../../src/storage/sql/sqlite/sqlite-driver.js';

/** Opens the file of a `sqlite:` URL behind the back of whoever uses it, by the driver for this Node. */
export async function openSqliteFile(url: string): Promise<SqliteConnection> {
  const driver = await loadSqliteDriver();
  return driver.open(url.slice('sqlite:'.length), { timeoutMs: 5_000 });
}
