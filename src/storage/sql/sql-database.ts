import { TollhouseError } from '../../errors/errors.js';
import type { Presence } from './presence/presence.js';

/** Which SQL a database speaks. */
export type Dialect = 'sqlite' | 'postgres';

/**
 * One SQL statement, prepared once for each connection and kept. Parameters are `$1`, `$2`, …: SQLite reads them as names,
 * Postgres as places, so that one text serves both.
 */
export interface Statement {
  /** Unique among all statements; the name of the prepared statement in Postgres, at most 63 characters. */
  readonly name: string;
  readonly text: string;
}

/** What goes in as a parameter. */
export type SqlInput = string | number | bigint | Uint8Array | null;

/** A row as a driver hands it out. 64-bit integers are `bigint` from SQLite and text from Postgres: read them with `Number` or `BigInt`. */
export type Row = Readonly<Record<string, string | number | bigint | Uint8Array | null>>;

/** A statement with its parameters. */
export type Step = readonly [statement: Statement, ...values: SqlInput[]];

/**
 * A database under the SQL stores. Everything rejects with `store_unavailable` when the database does not answer, and
 * nothing has changed then, except that a write whose response was lost may have been made.
 */
export interface SqlDatabase {
  /** For the few statements that cannot be the same in both. */
  readonly dialect: Dialect;
  /** Which processes that use it are gone. */
  readonly presence: Presence;
  /** Runs one statement, atomic by itself, and answers its rows (`SELECT` or `RETURNING`). */
  query(...step: Step): Promise<readonly Row[]>;
  /** The same on connections that nothing else waits for: limits hold while those of the work are all in use. */
  queryApart(...step: Step): Promise<readonly Row[]>;
  /** Runs steps in order in one transaction: all of them or none. Returns the rows of each. */
  batch(steps: readonly Step[]): Promise<readonly (readonly Row[])[]>;
  /**
   * Runs `guard` and, only if it answers a row, the steps after it, in one transaction. Returns the rows of the guard.
   * @param first - what comes before the guard, whatever it answers: locks. Default: nothing
   */
  batchIf(guard: Step, steps: readonly Step[], first?: readonly Step[]): Promise<readonly Row[]>;
  close(): Promise<void>;
}

/** What of a database counters need. */
export type CountingDatabase = Pick<SqlDatabase, 'dialect' | 'queryApart'>;

/** The error for a database that did not do what it was asked; the cause says why and is not shown to clients. */
export function storeUnavailable(cause: unknown): TollhouseError {
  return new TollhouseError(
    'store_unavailable',
    'The database does not answer, or takes no writes; try again shortly.',
    {
      retryAfterSeconds: 2,
      cause,
    },
  );
}
