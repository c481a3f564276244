import { join } from 'node:path';
import { lineOf } from '../driver-error.js';
import type { SchemaConnection } from '../migrate.js';
import { fillPostgres } from '../postgres-database.js';
import { readSchema } from '../schema-state.js';
import type { Row } from '../sql-database.js';
import type { SqliteConnection } from '../sqlite/sqlite-driver.js';
import { backupFailed, refuseBooks } from './backup-error.js';
import type { BackupWork, Restored } from './backup-options.js';
import { inOwnFolder } from './own-folder.js';
import { copyBackup, settleCopy, withFile } from './sqlite-backup.js';

/** A table of Postgres, and where it gives numbers itself. */
interface Table {
  readonly name: string;
  readonly columns: readonly string[];
  readonly numbered: string | undefined;
}

const COLUMNS = `select table_name, column_name, is_identity from information_schema.columns
  where table_schema = current_schema() and table_name like 'tollhouse\\_%' order by table_name, ordinal_position`;
/** Its order is that in which they were made: what another one refers to comes before it. */
const TABLES = `select name from sqlite_master
  where type = 'table' and name like 'tollhouse\\_%' escape '\\' and name not like 'tollhouse\\_migration%' escape '\\' order by rowid`;
const MOST_ROWS = 500;
/** A statement of Postgres has 65,535 at most. */
const MOST_VALUES = 30_000;

/**
 * Puts a SQLite file that is a backup into a PostgreSQL that holds nothing of Tollhouse, all or nothing. It is brought up to date, and ended
 * what was open in it, in a copy.
 */
export async function restoreIntoPostgres(url: string, backup: string, work: BackupWork): Promise<Restored> {
  refuseBooks((await readSchema(url)).made);
  return inOwnFolder(async (folder) => {
    const copy = join(folder, 'books.db');
    await work.step('checking the backup');
    await copyBackup(backup, copy, work.signal);
    await work.step('marking what is lost');
    const restored = await settleCopy(copy, backup, work.now());
    await withFile(copy, true, (from) => fillPostgres(url, (into) => copyTables(from, into, work), work.signal));
    return restored;
  });
}

async function copyTables(from: SqliteConnection, into: SchemaConnection, { step, signal }: BackupWork) {
  const tables = tablesOf(await into.run(COLUMNS));
  for (const { name } of from.prepare(TABLES).all([])) {
    const table = tables.get(String(name));
    // The schemas are made by the same steps: it is an operator's own.
    if (table === undefined) continue;
    await step(`copying ${table.name}`);
    try {
      await copyTable(from, into, table);
    } catch (error) {
      signal.throwIfAborted();
      throw backupFailed(`${table.name} cannot be copied into Postgres: ${lineOf(error)}; nothing was restored`, error);
    }
  }
}

function tablesOf(rows: readonly Row[]): ReadonlyMap<string, Table> {
  const tables = new Map<string, Table>();
  for (const { table_name, column_name, is_identity } of rows) {
    const [name, column] = [String(table_name), String(column_name)];
    const { columns = [], numbered } = tables.get(name) ?? {};
    tables.set(name, { name, columns: [...columns, column], numbered: is_identity === 'YES' ? column : numbered });
  }
  return tables;
}

async function copyTable(from: SqliteConnection, into: SchemaConnection, table: Table): Promise<void> {
  const { name, columns, numbered } = table;
  const size = Math.min(MOST_ROWS, Math.floor(MOST_VALUES / columns.length));
  // Some rows come with the schema.
  await into.run(`delete from ${name}`);
  let copied = 0;
  for (const rows of inPortions(from, table, size)) {
    const values = rows.flatMap((row) => columns.map((column) => row[column] ?? null));
    await into.run(insertOf(table, rows.length), ...values);
    copied += rows.length;
  }
  const [count] = await into.run(`select count(*) as count from ${name}`);
  if (Number(count?.['count']) !== copied) throw new Error(`${String(count?.['count'])} of ${copied} rows arrived`);
  if (numbered === undefined || copied === 0) return;
  await into.run(`select setval(pg_get_serial_sequence('${name}', '${numbered}'), max(${numbered})) from ${name}`);
}

function insertOf({ name, columns }: Table, rows: number): string {
  const places = Array.from({ length: rows }, (_, row) => {
    const own = columns.map((_column, at) => `$${row * columns.length + at + 1}`);
    return `(${own.join(', ')})`;
  });
  const names = columns.map((column) => `"${column}"`).join(', ');
  return `insert into ${name} (${names}) overriding system value values ${places.join(', ')}`;
}

/** All rows of a table in the order of its key, so many at a time. */
function* inPortions(from: SqliteConnection, { name, columns }: Table, size: number): Generator<readonly Row[]> {
  const keys = keysOf(from, name);
  const [names, order] = [columns, keys].map((list) => list.map((it) => `"${it}"`).join(', '));
  const begin = `select ${names} from ${name}`;
  const end = `order by ${order} limit ${size}`;
  const first = from.prepare(`${begin} ${end}`);
  const next = from.prepare(`${begin} where (${order}) > (${keys.map(() => '?').join(', ')}) ${end}`);
  let rows = first.all([]);
  while (rows.length > 0) {
    yield rows;
    const last = rows.at(-1);
    rows = rows.length < size ? [] : next.all(keys.map((key) => last?.[key] ?? null));
  }
}

function keysOf(from: SqliteConnection, name: string): readonly string[] {
  const keys = from.prepare(`select name from pragma_table_info('${name}') where pk > 0 order by pk`).all([]);
  if (keys.length === 0) throw new Error('it has no key');
  return keys.map((row) => String(row['name']));
}
