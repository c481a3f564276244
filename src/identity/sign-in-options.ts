import type { NetworkId } from '../protocol/types.js';
import type { Counters } from '../storage/counters/counters.js';

/** What both ways to sign in need. */
export interface SignInSetup {
  readonly network: NetworkId;
  /** The host that sign-ins must name; undefined: that of `baseUrl`, or of a request to a loopback host. */
  readonly domain: string | undefined;
  /** A line for the reader of the message. */
  readonly statement: string;
  readonly counters: Counters;
  /** Clock, milliseconds since the epoch. */
  readonly now: () => number;
  /** Random bytes, as many as asked for. */
  readonly random: (size: number) => Uint8Array;
}

/** How long a sign-in may take, from the challenge to the proof. */
export const SIGN_IN_MS = 5 * 60_000;

/** How far the clocks of instances that share counters may be apart. */
export const CLOCK_SKEW_MS = 30_000;

/** A used nonce is remembered for this much longer than it could be accepted. */
export const NONCE_MARGIN_MS = 2 * CLOCK_SKEW_MS;
