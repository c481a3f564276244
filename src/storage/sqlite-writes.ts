import type BetterSqlite3 from 'better-sqlite3';

interface Waiting {
  readonly write: () => unknown;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** What came of one write of several. */
type Outcome = { readonly value: unknown } | { readonly error: unknown };

/** Writes to a SQLite file, those of one turn of the event loop together. */
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
export function sqliteWrites(connection: BetterSqlite3.Database): SqliteWrites {
  let waiting: Waiting[] = [];
  let turn: NodeJS.Immediate | undefined;

  const alone = connection.transaction((write: () => unknown) => write());

  function attempt(write: () => unknown): Outcome {
    try {
      return { value: alone(write) };
    } catch (error) {
      // A full disk, for instance, has taken back the whole transaction.
      if (!connection.inTransaction) throw error;
      return { error };
    }
  }

  const together = connection.transaction((writes: readonly Waiting[]) => writes.map(({ write }) => attempt(write)));

  function flush(): void {
    clearImmediate(turn);
    turn = undefined;
    const group = waiting;
    waiting = [];
    try {
      const [first, second] = group;
      if (first === undefined) return;
      if (second === undefined) return first.resolve(alone.immediate(first.write));
      for (const [at, outcome] of together.immediate(group).entries()) settle(group[at], outcome);
    } catch (error) {
      for (const { reject } of group) reject(error);
    }
  }

  return {
    add: <T>(write: () => T) =>
      new Promise<T>((resolve, reject) => {
        waiting.push({ write, resolve: (value) => resolve(value as T), reject });
        turn ??= setImmediate(flush);
      }),
    flush,
  };
}

function settle(waiting: Waiting | undefined, outcome: Outcome): void {
  if ('error' in outcome) waiting?.reject(outcome.error);
  else waiting?.resolve(outcome.value);
}
