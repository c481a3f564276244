import { loadBetterSqlite3 } from './better-sqlite3.js';
import { loadNodeSqlite } from './node-sqlite.js';
import type { SqliteDriver } from './sqlite-driver.js';

/** From here on Node's own SQLite is whole: nothing to install, and nothing to compile. */
const NODE_WITH_SQLITE = 24;

/**
 * Takes Node's own SQLite on Node 24 and later, and better-sqlite3 before. Throws `missing_dependency` when there is none, or
 * not one that this Node survives.
 */
export async function loadSqliteDriver(): Promise<SqliteDriver> {
  return hasOwnSqlite() ? loadNodeSqlite() : loadBetterSqlite3();
}

/** Whether this Node needs no package for SQLite. */
export function hasOwnSqlite(node: string = process.versions.node): boolean {
  return Number.parseInt(node, 10) >= NODE_WITH_SQLITE;
}
