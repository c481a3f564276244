import { codeOf } from '../driver-error.js';
import type { Row, SqlInput } from '../sql-database.js';

const BUSY = 5;
const NOT_A_DATABASE = 26;

/** Parameters by place, or by name, where `$1` is called `1`. */
export type SqliteValues = readonly unknown[] | Readonly<Record<string, SqlInput>>;

/** A statement of a connection, prepared. Integers come out as `bigint`. */
export interface SqliteStatement {
  /** Whether it answers rows, as `SELECT` and `RETURNING` do. */
  readonly reader: boolean;
  all(values: SqliteValues): Row[];
  run(values: SqliteValues): unknown;
}

/** An open SQLite file. Everything throws what the driver throws. */
export interface SqliteConnection {
  readonly inTransaction: boolean;
  prepare(text: string): SqliteStatement;
  /** Runs statements without parameters, and forgets their rows. */
  exec(text: string): unknown;
  /** Does nothing the second time. */
  close(): unknown;
}

export interface SqliteOpening {
  /** Whether the file is only read, and not made. Default false. */
  readonly readonly?: boolean;
  /** How long a statement waits, with this whole process, for a lock that another connection holds. */
  readonly timeoutMs: number;
}

/** A way to SQLite: Node's own, or better-sqlite3. */
export interface SqliteDriver {
  /** Opens a file, or `:memory:`. Throws `missing_dependency` when the driver has no compiled part for this Node. */
  open(file: string, opening: SqliteOpening): SqliteConnection;
}

/** Whether an error of a driver says that another connection holds the lock. */
export function isBusy(error: unknown): boolean {
  return codeOf(error).startsWith('SQLITE_BUSY') || plainCodeOf(error) === BUSY;
}

/** Whether an error of a driver says that the file holds something else than a database. */
export function isNoDatabase(error: unknown): boolean {
  return codeOf(error) === 'SQLITE_NOTADB' || plainCodeOf(error) === NOT_A_DATABASE;
}

/** An extended code has the plain one in its low byte. */
function plainCodeOf(error: unknown): number {
  return Number(Reflect.get(Object(error), 'errcode')) & 0xff;
}
