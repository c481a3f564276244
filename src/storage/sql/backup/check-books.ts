import { migrate, readSteps } from '../migrate.js';
import { SCHEMA_STEPS } from '../migrations/steps.js';
import { loadSqliteDriver } from '../sqlite/load-sqlite-driver.js';
import { sqliteSchemaConnection } from '../sqlite/sqlite-database.js';
import type { SqliteConnection } from '../sqlite/sqlite-driver.js';
import { backupFailed } from './backup-error.js';

/** Something that a SQLite file has beside its rows: a table, an index, a trigger or a view. */
interface Entry {
  readonly type: string;
  readonly name: string;
  /** The statement that makes it, as SQLite writes that down; null for an index that comes with its table. */
  readonly sql: string | null;
}

const ENTRIES = 'select type, name, sql from sqlite_master';
/** How SQLite begins the text of what holds rows and runs nothing, however it was asked for it; a virtual table begins otherwise. */
const HOLDS_ROWS: Readonly<Record<string, RegExp>> = { table: /^CREATE TABLE /, index: /^CREATE (UNIQUE )?INDEX / };

/**
 * Whether a SQLite file is whole and holds books that this program can read: all tables, columns and indexes that its steps of the schema make,
 * each by the same text, as conflict clauses, checks and defaults stand nowhere else; and no trigger, view or virtual table, which
 * would run SQL of the file's maker in the books from then on. Tables and indexes of an operator's own run nothing and may be there beside ours;
 * into Postgres they are not taken along. Returns the last step of its schema.
 * @throws TollhouseError `backup_failed`, which names the file and what is wrong in it; `bad_option` for a schema that is newer than this program
 */
export async function checkBooks(connection: SqliteConnection, file: string): Promise<string | undefined> {
  const faults = connection.prepare('pragma integrity_check').all([]);
  const [first] = faults.map((row) => String(Object.values(row)[0]));
  if (first !== 'ok') throw backupFailed(`${file} is damaged (${first}); take an earlier backup`);
  const { made } = await readSteps(sqliteSchemaConnection(connection));
  if (made.length === 0) throw backupFailed(`${file} holds no books of Tollhouse`);
  const fault = await withBooksOf(made.length, (books) => schemaFault(connection, books));
  if (fault !== undefined) throw backupFailed(`${file} ${fault}`);
  return made.at(-1);
}

/** New books in memory, made by so many steps: what a file that has made them must look like. */
async function withBooksOf<T>(steps: number, work: (books: SqliteConnection) => T): Promise<T> {
  const books = (await loadSqliteDriver()).open(':memory:', { timeoutMs: 0 });
  try {
    await migrate(sqliteSchemaConnection(books), SCHEMA_STEPS.slice(0, steps));
    return work(books);
  } finally {
    books.close();
  }
}

/** What is wrong with the schema of a file, and what to do; undefined where it is that of the books. */
function schemaFault(file: SqliteConnection, books: SqliteConnection): string | undefined {
  const [found, wanted] = [entriesOf(file), entriesOf(books)];
  const active = [...found].find(([entry, it]) => !wanted.has(entry) && !holdsRows(it));
  if (active !== undefined) {
    return `has a ${active[0]} that Tollhouse does not make, and that would run in the books; drop it if it is your own, else take another backup`;
  }
  for (const [entry, { type, name, sql }] of wanted) {
    const there = found.get(entry);
    const missing = type === 'table' && there !== undefined ? missingColumn(file, books, name) : undefined;
    if (there === undefined) return `lacks the ${entry}; take another backup`;
    if (missing !== undefined) return `lacks the column ${missing} of the ${entry}; take another backup`;
    if (there.sql !== sql) return `has a ${entry} that is not as Tollhouse makes it; take another backup`;
  }
  return undefined;
}

/** By type and name. */
function entriesOf(connection: SqliteConnection): ReadonlyMap<string, Entry> {
  const rows = connection.prepare(ENTRIES).all([]);
  const entries = rows.map(({ type, name, sql }): Entry => {
    return { type: String(type), name: String(name), sql: sql === null ? null : String(sql) };
  });
  return new Map(entries.map((entry) => [`${entry.type} ${entry.name}`, entry]));
}

function holdsRows({ type, sql }: Entry): boolean {
  return sql === null ? type === 'index' : HOLDS_ROWS[type]?.test(sql) === true;
}

function missingColumn(file: SqliteConnection, books: SqliteConnection, table: string): string | undefined {
  const [has, wants] = [file, books].map((connection) =>
    connection
      .prepare(`select name from pragma_table_xinfo('${table}')`)
      .all([])
      .map((row) => String(row['name'])),
  );
  return wants?.find((name) => has?.includes(name) !== true);
}
