import { TollhouseError } from '../../errors/errors.js';
import type { SqlDatabase } from '../sql/sql-database.js';
import { type Rollup, rollupSteps, sumOf } from './rollups.js';

const FLUSH_MS = 1_000;
/** As many sums as are kept while the database does not answer; further ones are lost. */
const MAX_SUMS = 10_000;

/** Counts what did not reach the upstream in this process, and writes the sums. */
export interface RefusalCounter {
  add(rollups: readonly Rollup[]): void;
  /** Writes what was counted so far; keeps it for the next time when that fails. */
  flush(): Promise<void>;
  /** Writes the rest, and stops. Rejects with `store_unavailable` where they cannot be written, which is not tried again. */
  close(): Promise<void>;
}

const NOT_COUNTED = 'The last requests for payment and refusals of calls cannot be written down; figures lack them.';

/**
 * A counter that writes a second after the first refusal, so that a flood of hostile requests costs one small transaction
 * a second, however many they are. What a killed process has not written is lost: these are figures, not money.
 */
export function createRefusalCounter(database: SqlDatabase): RefusalCounter {
  let sums = new Map<string, Rollup>();
  let timer: NodeJS.Timeout | undefined;
  let writing = Promise.resolve();
  let isClosed = false;

  function count(rollup: Rollup): void {
    const sum = sumOf(rollup);
    const before = sums.get(sum);
    if (before === undefined && sums.size >= MAX_SUMS) return;
    sums.set(sum, { ...rollup, value: rollup.value + (before?.value ?? 0n) });
  }

  function schedule(): void {
    if (isClosed) return;
    timer ??= setTimeout(() => {
      // The next one tries again; there is nobody here to tell.
      flush().catch(schedule);
    }, FLUSH_MS).unref();
  }

  /** One after the other, so that whoever waits for the last one has waited for all. */
  function flush(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    writing = writing.catch(() => {}).then(write);
    return writing;
  }

  async function write(): Promise<void> {
    const taken = sums;
    sums = new Map();
    if (taken.size === 0) return;
    try {
      await database.batch(rollupSteps([...taken.values()]));
    } catch (error) {
      for (const rollup of taken.values()) count(rollup);
      throw error;
    }
  }

  return {
    add(rollups) {
      for (const rollup of rollups) count(rollup);
      schedule();
    },
    flush,
    close() {
      isClosed = true;
      return flush().catch((cause: unknown) => {
        throw new TollhouseError('store_unavailable', NOT_COUNTED, { cause });
      });
    },
  };
}
