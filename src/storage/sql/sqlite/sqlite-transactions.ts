import type { SqliteConnection } from './sqlite-driver.js';

/** Does work all or nothing; work that throws is taken back, and what it threw is thrown. */
type Scope = <T>(work: () => T) => T;

/** The transactions of one connection. */
export interface SqliteTransactions {
  /** Takes the write lock at once, and commits at the end. */
  readonly transact: Scope;
  /** Within `transact`: work that can be taken back by itself. */
  readonly nest: Scope;
}

/** Makes the transactions of a connection. */
export function sqliteTransactions(connection: SqliteConnection): SqliteTransactions {
  return {
    transact: scope(connection, 'begin immediate', 'commit', ['rollback']),
    nest: scope(connection, 'savepoint nested', 'release nested', ['rollback to nested', 'release nested']),
  };
}

function scope(connection: SqliteConnection, begin: string, end: string, undo: readonly string[]): Scope {
  const [beginning, ending, ...undoing] = [begin, end, ...undo].map((text) => {
    const statement = connection.prepare(text);
    return () => statement.run([]);
  });
  return (work) => {
    beginning?.();
    try {
      const result = work();
      ending?.();
      return result;
    } catch (error) {
      // Some failures, as of a full disk, have taken everything back already.
      if (connection.inTransaction) for (const step of undoing) step();
      throw error;
    }
  };
}
