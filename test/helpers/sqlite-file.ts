import { loadSqliteDriver } from '../../src/storage/load-sqlite-driver.js';
import type { SqliteConnection } from '../../src/storage/sqlite-driver.js';

/** Opens the file of a `sqlite:` URL behind the back of whoever uses it, by the driver for this Node. */
export async function openSqliteFile(url: string): Promise<SqliteConnection> {
  const driver = await loadSqliteDriver();
  return driver.open(url.slice('sqlite:'.length), { timeoutMs: 5_000 });
}
