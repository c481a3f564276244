import type { NetworkId, Terms } from './types.js';

/** A recent blockhash that saves the payer's client a call; a hint, never compared. */
export interface BlockhashHint {
  readonly blockhash: string;
  /** Height of the last block in which it is valid. */
  readonly lastValidBlockHeight: number;
}

/** By network, where there is one. */
export type BlockhashHints = Readonly<Partial<Record<NetworkId, BlockhashHint>>>;

/** Said of terms whose money is taken before the work (version 2); nothing is said where it is taken after it. */
export type PaymentFlow = 'upfront';

/** What is sold, as a 402 describes it. */
export interface Resource {
  /** Absolute address. */
  readonly url: string;
  readonly description?: string;
  readonly mimeType?: string;
  /** At most 32 printable ASCII characters. */
  readonly serviceName?: string;
  /** At most five, each at most 32 printable ASCII characters. */
  readonly tags?: readonly string[];
  readonly iconUrl?: string;
}

/** Everything a 402 says. */
export interface Challenge {
  readonly resource: Resource;
  /** None where nothing is sold and `extensions` asks for a sign-in. */
  readonly terms: readonly Terms[];
  /** For terms on each network. Default: none. */
  readonly hints?: BlockhashHints;
  readonly paymentFlow?: PaymentFlow;
  /** Why this 402 is sent; a reason or error code. */
  readonly error?: string;
  /** Extensions of the protocol, by name, as they go over the wire. */
  readonly extensions?: Readonly<Record<string, unknown>>;
}
