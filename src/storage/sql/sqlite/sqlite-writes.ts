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
  /** Does a write in a transaction, all or nothing; resolves when it is on the disk. */
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

  function flush(): void {
    clearImmediate(turn);
    turn = undefined;
    const group = waiting;
    waiting = [];
    try {
      const [first, second] = group;
      if (first === undefined) return;
      if (second === undefined) return first.resolve(transact(first.write));
      const outcomes = transact(() => group.map(({ write }) => attempt(write)));
      for (const [at, outcome] of outcomes.entries()) settle(group[at], outcome);
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
