import type { MaybePromise } from '../../lib/maybe-promise.js';

/** Where a fixed window of counting stands. */
export interface WindowCount {
  /** How much was counted under the key in this window, this time included. */
  readonly count: number;
  /** When the window ends and the count is zero again, in milliseconds since the epoch. */
  readonly resetsAt: number;
}

/**
 * What is shared between instances and expires: used nonces, denied tokens, sign-ins under way, sessions, rate limits
 *. Every method is one atomic step. What is looked up with every request may be answered without a promise by
 * a store that need not ask anybody.
 *
 * Keys are `space:rest`, at most {@link MAX_KEY_LENGTH} characters; what fills one space never pushes anything out of
 * another. There are three kinds of entries, and a key means something else in each: marks, values and counts.
 *
 * Marks guard against a second use, so they are never forgotten before their time: a store that cannot keep one rejects
 * with `store_unavailable`. Values and counts may be forgotten early, and their users must be safe then. Any method rejects
 * with `store_unavailable` when the store cannot be reached; limits then let pass, proofs refuse.
 */
export interface Counters {
  /** Marks a key for `ttlMs`. True for exactly one caller while the mark lives; false for all others. */
  takeOnce(key: string, ttlMs: number): Promise<boolean>;
  /** Whether any of the keys is marked. */
  anyTaken(keys: readonly string[]): MaybePromise<boolean>;
  /** Keeps a value under a key for `ttlMs`, in place of any before it. */
  put(key: string, value: string, ttlMs: number): Promise<void>;
  /** The value under a key, if it still lives. */
  get(key: string): MaybePromise<string | undefined>;
  /**
   * Puts `value` in the place of `expected`, where `undefined` is nothing; false, and nothing changed, when something else is there.
   */
  replace(key: string, expected: string | undefined, value: string, ttlMs: number): Promise<boolean>;
  /** Forgets the value under a key. */
  remove(key: string): Promise<void>;
  /**
   * Counts one more under a key, or as many as `by` says, a whole number. The first one opens a window of `windowMs`, which
   * later ones do not move.
   */
  increment(key: string, windowMs: number, by?: number): MaybePromise<WindowCount>;
  /** Takes one back from an open window; never below zero. */
  decrement(key: string): Promise<void>;
  /** Forgets the count under a key. */
  reset(key: string): Promise<void>;
  close(): Promise<void>;
}

/** Longest key of {@link Counters}, in characters. */
export const MAX_KEY_LENGTH = 256;
