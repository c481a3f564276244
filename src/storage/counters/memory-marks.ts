/** Marks in memory: keys that are taken until a time. None is forgotten while it lives. */
export interface MemoryMarks {
  /** Marks a key for so many milliseconds: `full` where there is no room for one more, `known` where it is marked. */
  take(key: string, ttlMs: number): 'taken' | 'known' | 'full';
  has(key: string): boolean;
}

/** How many of the oldest are looked at with each new one: they mostly live equally long, so that the dead are found at once. */
const OLDEST = 2;
/** So many marks in a full space are looked through for each millisecond until it is done again: a flood must not cost a scan each. */
const SCANNED_PER_MS = 50;
const SHORTEST_PAUSE_MS = 1_000;

/**
 * Makes a space of marks. Some 140 bytes each, and none before there is one.
 * @param max - how many it holds
 * @param now - clock, milliseconds since the epoch
 */
export function createMemoryMarks(max: number, now: () => number): MemoryMarks {
  /** When each ends, in the order in which they were taken. */
  const ends = new Map<string, number>();
  let scannedAt = Number.NEGATIVE_INFINITY;

  function forgetOldest(): void {
    let seen = 0;
    for (const [key, end] of ends) {
      if (end > now() || seen >= OLDEST) return;
      ends.delete(key);
      seen += 1;
    }
  }

  function isFull(): boolean {
    if (ends.size < max) return false;
    const time = now();
    if (time - scannedAt >= Math.max(SHORTEST_PAUSE_MS, ends.size / SCANNED_PER_MS)) {
      scannedAt = time;
      for (const [key, end] of ends) if (end <= time) ends.delete(key);
    }
    return ends.size >= max;
  }

  const has = (key: string): boolean => (ends.get(key) ?? Number.NEGATIVE_INFINITY) > now();

  return {
    has,
    take(key, ttlMs) {
      if (has(key)) return 'known';
      ends.delete(key);
      forgetOldest();
      if (isFull()) return 'full';
      ends.set(key, now() + ttlMs);
      return 'taken';
    },
  };
}
