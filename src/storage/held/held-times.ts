/** A wallet that was seen holding what a rule asks for. */
export interface Sighting {
  /** Names what must be held; at most 100 characters. */
  readonly rule: string;
  /** Base58. */
  readonly wallet: string;
  /** When it was seen, milliseconds since the epoch. */
  readonly at: number;
  /** Longest time between two sightings between which it counts as holding, in milliseconds. */
  readonly gapMs: number;
}

/**
 * Since when wallets have been seen holding something without a break. Each method is one atomic step, and rejects with
 * `store_unavailable` when the store cannot be reached. A rule has at most {@link MAX_HELD} wallets: one that comes when it is full
 * is not remembered, so that it begins anew each time.
 */
export interface HeldTimes {
  /** Notes a sighting; returns since when it was seen holding, which is now where it was not, or not lately. */
  seen(sighting: Sighting): Promise<number>;
  /** Notes that a wallet was seen without: its time is over. */
  lost(rule: string, wallet: string): Promise<void>;
  /**
   * Takes wallets of a rule that nobody has looked at since a time, for the caller to look at: others do not get them meanwhile.
   * Those come first that have waited longest.
   */
  takeDue(rule: string, before: number, at: number, limit: number): Promise<readonly string[]>;
  /**
   * Forgets wallets that were last seen before a time, a few at a time.
   * @returns how many went
   */
  prune(before: number, limit: number): Promise<number>;
}

/** So many wallets may wait at a rule. */
export const MAX_HELD = 50_000;

/** A wallet that was not seen for so long counts as holding at no gate, whose gaps are a quarter of at most a year. */
export const HELD_MEMORY_MS = 100 * 86_400_000;
