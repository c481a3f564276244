import { existsSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { badOption, TollhouseError } from '../../../errors/errors.js';
import { lineOf } from '../driver-error.js';
import { makeFolder } from '../make-folder.js';
import { migrate, readSteps, type SchemaConnection, type SchemaState } from '../migrate.js';
import { localPresence } from '../presence/local-presence.js';
import { readKeysInUse } from '../secrets-keys.js';
import {
  type Row,
  type SqlDatabase,
  type SqlInput,
  type Statement,
  type Step,
  storeUnavailable,
} from '../sql-database.js';
import { loadSqliteDriver } from './load-sqlite-driver.js';
import { makeOwnerOnlyFile } from './owner-only-file.js';
import {
  isBusy,
  isNoDatabase,
  type SqliteConnection,
  type SqliteDriver,
  type SqliteStatement,
  type SqliteValues,
} from './sqlite-driver.js';
import { sqliteWrites } from './sqlite-writes.js';

/** How long a write waits for the write of another process. */
const BUSY_MS = 5_000;
/** How long the start waits for another instance that is bringing the schema up to date. */
const START_MS = 60_000;
const START_PAUSE_MS = 20;
const READ = /^\s*select\b/i;
const PARAMETER = /\$(\d+)/g;
/** In KiB, with the minus that SQLite wants for it. */
const CACHE = -16_000;

/**
 * Opens a SQLite file, made with its folder when it is not there, and brings its schema up to date. What was answered is
 * on the disk (WAL, `synchronous=FULL`).
 * @param path - of the file, relative to the working directory; `:memory:` keeps everything in this process
 * @throws `missing_dependency` before Node 24 without better-sqlite3, `bad_option` for a path that cannot be opened or a newer schema
 */
export async function openSqlite(path: string): Promise<SqlDatabase> {
  const driver = await loadSqliteDriver();
  const file = path === ':memory:' ? path : resolve(path);
  const connection = await connect(driver, file);
  try {
    await writeLocked(connection, () => migrate(sqliteSchemaConnection(connection)));
    connection.exec(`pragma synchronous = FULL; pragma busy_timeout = ${BUSY_MS}; pragma cache_size = ${CACHE}`);
  } catch (error) {
    connection.close();
    throw error instanceof TollhouseError ? error : cannotOpen(file, error);
  }
  return sqliteDatabase(connection);
}

/** Looks how far the schema of a SQLite file is. Changes nothing, and makes no file. Throws like {@link openSqlite}. */
export async function readSqliteSchema(path: string): Promise<SchemaState> {
  const driver = await loadSqliteDriver();
  const file = resolve(path);
  const exists = existsSync(file);
  try {
    const connection = driver.open(exists ? file : ':memory:', { readonly: exists, timeoutMs: BUSY_MS });
    try {
      const bytes = [file, `${file}-wal`].reduce(
        (sum, it) => sum + (statSync(it, { throwIfNoEntry: false })?.size ?? 0),
        0,
      );
      const schema = sqliteSchemaConnection(connection);
      const steps = await readSteps(schema);
      return { ...steps, bytes, ...(await readKeysInUse(schema, steps)) };
    } finally {
      connection.close();
    }
  } catch (error) {
    throw error instanceof TollhouseError ? error : cannotOpen(file, error);
  }
}

/** A SQLite file whose schema is looked at or changed. */
export function sqliteSchemaConnection(connection: SqliteConnection): SchemaConnection {
  return { dialect: 'sqlite', run: async (text, ...values) => execute(prepareText(connection, text), values) };
}

async function connect(driver: SqliteDriver, file: string): Promise<SqliteConnection> {
  try {
    makeFolder(dirname(file));
    if (file !== ':memory:') await makeOwnerOnlyFile(file);
    // No waiting here: it would stop this process, which may be the one that holds the lock.
    return driver.open(file, { timeoutMs: 0 });
  } catch (cause) {
    throw cause instanceof TollhouseError ? cause : cannotOpen(file, cause);
  }
}

function cannotOpen(file: string, cause: unknown): TollhouseError {
  const hint = isNoDatabase(cause)
    ? 'name a database of Tollhouse, or a file that is not there yet'
    : 'name a file in a folder that this process may write to';
  return badOption('openStorage', `cannot open the SQLite file ${file} (${lineOf(cause)}); ${hint}`, 'databaseUrl');
}

/** Does something while nobody else, in this process or another, writes to the file. */
async function writeLocked(connection: SqliteConnection, work: () => Promise<void>): Promise<void> {
  await whenFree(() => {
    connection.exec('pragma journal_mode = WAL');
    connection.exec('begin immediate');
  });
  try {
    await work();
    connection.exec('commit');
  } catch (error) {
    connection.exec('rollback');
    throw error;
  }
}

async function whenFree(lock: () => void): Promise<void> {
  for (let waited = 0; ; waited += START_PAUSE_MS) {
    try {
      return lock();
    } catch (error) {
      if (!isBusy(error) || waited >= START_MS) throw error;
    }
    await pause(START_PAUSE_MS);
  }
}

function sqliteDatabase(connection: SqliteConnection): SqlDatabase {
  const prepared = new Map<string, PreparedText>();

  function prepare({ name, text }: Statement): PreparedText {
    let statement = prepared.get(name);
    if (statement === undefined) {
      statement = prepareText(connection, text);
      prepared.set(name, statement);
    }
    return statement;
  }

  function run([statement, ...values]: Step): readonly Row[] {
    return execute(prepare(statement), values);
  }

  const writes = sqliteWrites(connection);

  /** Sees whatever this process has asked to be written before. */
  function read(step: Step): readonly Row[] {
    writes.flush();
    return run(step);
  }

  function runAll(steps: readonly Step[]): readonly (readonly Row[])[] {
    return steps.map(run);
  }

  function runIf(guard: Step, steps: readonly Step[], first: readonly Step[] = []): readonly Row[] {
    runAll(first);
    const rows = run(guard);
    if (rows.length > 0) runAll(steps);
    return rows;
  }

  async function attempt<T>(work: () => T | Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (cause) {
      throw storeUnavailable(cause);
    }
  }

  const query: SqlDatabase['query'] = (...step) =>
    attempt(() => (isRead(step[0]) ? read(step) : writes.add(() => run(step))));
  return {
    dialect: 'sqlite',
    presence: localPresence(),
    query,
    queryApart: query,
    batch: (steps) => attempt(() => writes.add(() => runAll(steps))),
    batchIf: (guard, steps, first) => attempt(() => writes.add(() => runIf(guard, steps, first))),
    async close() {
      writes.flush();
      connection.close();
    },
  };
}

/** A statement, and how many values it takes by their place; undefined where it names them. */
interface PreparedText {
  readonly statement: SqliteStatement;
  readonly places: number | undefined;
}

/** Values are bound quicker by place than by name, and can be where a text takes each of them once, in their order. */
function prepareText(connection: SqliteConnection, text: string): PreparedText {
  const numbers = [...text.matchAll(PARAMETER)].map(([, number]) => Number(number));
  const isInOrder = numbers.every((number, at) => number === at + 1);
  const statement = connection.prepare(isInOrder ? text.replace(PARAMETER, '?') : text);
  return { statement, places: isInOrder ? numbers.length : undefined };
}

function execute({ statement, places }: PreparedText, values: readonly SqlInput[]): readonly Row[] {
  // Some texts have no use for every value.
  const bound = places === undefined ? byName(values) : values.slice(0, places);
  if (statement.reader) return statement.all(bound);
  statement.run(bound);
  return [];
}

function byName(values: readonly SqlInput[]): SqliteValues {
  const named: Record<string, SqlInput> = {};
  for (const [at, value] of values.entries()) named[at + 1] = value;
  return named;
}

/** Anything else counts as a write, also where it only reads. */
function isRead({ text }: Statement): boolean {
  return READ.test(text);
}
