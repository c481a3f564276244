import type { SqliteConnection } from './sqlite-driver.js';
import { sqliteTransactions } from './sqlite-transactions.js';

interface Waiting {
  readonly write: () => unknown;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** What came of one write of several. */
type Outcome = { readonly value: unknown } | { readonly error: unknown };

/** A write waits for so many turns of the event loop at most. */
const MOST_TURNS = 8;

/** Writes to a SQLite file, those that come in quick succession together. */
export interface SqliteWrites {
  /**
   * Does a write in a transaction, all or nothing; resolves when it is on the disk.
   * @param write - works on the connection alone: where another one fails, it is taken back and done once more
   */
  add<T>(write: () => T): Promise<T>;
  /** Does what waits now. */
  flush(): void;
}

/**
 * Makes the writes of a connection. A commit waits for the disk and stops this process meanwhile, so whatever was asked for
 * until it begins goes into one; a write that fails takes nothing of the others back.
 */
export function sqliteWrites(connection: SqliteConnection): SqliteWrites {
  let waiting: Waiting[] = [];
  let turn: NodeJS.Immediate | undefined;

  const { transact, nest } = sqliteTransactions(connection);

  function attempt(write: () => unknown): Outcome {
    try {
      return { value: nest(write) };
    } catch (error) {
      // A full disk, for instance, has taken back the whole transaction.
      if (!connection.inTransaction) throw error;
      return { error };
    }
  }

  /** Nearly none fails, and within a savepoint SQLite copies every page that is written, to a file where they are many. */
  function outcomesOf(group: readonly Waiting[]): readonly Outcome[] {
    let isWriting = false;
    try {
      return transact(() => {
        isWriting = true;
        const outcomes = group.map(({ write }) => ({ value: write() }));
        isWriting = false;
        return outcomes;
      });
    } catch (error) {
      if (!isWriting) throw error;
      return transact(() => group.map(({ write }) => attempt(write)));
    }
  }

  function flush(): void {
    clearImmediate(turn);
    turn = undefined;
    const group = waiting;
    waiting = [];
    try {
      const [first, second] = group;
      if (first === undefined) return;
      if (second === undefined) return first.resolve(transact(first.write));
      for (const [at, outcome] of outcomesOf(group).entries()) settle(group[at], outcome);
    } catch (error) {
      for (const { reject } of group) reject(error);
    }
  }

  /** Waits as long as each turn brings another write: whoever is answered then works together, and comes together again. */
  function gather(before: number, turns: number): void {
    if (waiting.length === before || turns === MOST_TURNS) return flush();
    turn = setImmediate(gather, waiting.length, turns + 1);
  }

  return {
    add: <T>(write: () => T) =>
      new Promise<T>((resolve, reject) => {
        waiting.push({ write, resolve: (value) => resolve(value as T), reject });
        turn ??= setImmediate(gather, 0, 1);
      }),
    flush,
  };
}

function settle(waiting: Waiting | undefined, outcome: Outcome): void {
  if ('error' in outcome) waiting?.reject(outcome.error);
  else waiting?.resolve(outcome.value);
}
