import { withTimeout } from '../../../lib/work/with-timeout.js';

/** How a reader rests. */
export interface Rest {
  /** Shortest time between two reads, in milliseconds. */
  readonly leastMs: number;
  /** How many times as long as a read took it rests at least. */
  readonly times: number;
}

/** Whoever asks waits no longer: the figure is missing then, and there for the next one. */
const PATIENCE_MS = 2_000;

/**
 * Reads something that costs: once for all who ask at once, and not again before it has rested, whether it was read or not.
 * @returns what was read last, undefined where that failed or takes too long
 */
export function restedReader<T>(read: () => Promise<T>, { leastMs, times }: Rest): () => Promise<T | undefined> {
  let reading: Promise<T | undefined> | undefined;
  let last: T | undefined;
  let restsUntil = Number.NEGATIVE_INFINITY;

  async function readNow(): Promise<T | undefined> {
    const begunAt = performance.now();
    last = await read().catch(() => undefined);
    const now = performance.now();
    restsUntil = now + Math.max(leastMs, times * (now - begunAt));
    reading = undefined;
    return last;
  }

  return async () => {
    if (performance.now() < restsUntil) return last;
    reading ??= readNow();
    const underWay = reading;
    return (await withTimeout(PATIENCE_MS, () => underWay))?.value;
  };
}
