import type { TollhouseError } from '../errors/errors.js';
import type { BlockhashHint } from './challenge.js';
import type { NetworkId } from './types.js';

/** What a facilitator can settle, free of protocol versions. */
export interface Supported {
  /** One entry for each scheme and network. */
  readonly kinds: readonly SupportedKind[];
  /** Names of protocol extensions. */
  readonly extensions: readonly string[];
  /** All fee payers, base58: the keys that may sign. */
  readonly signers: readonly string[];
  /** Why there are no kinds at the moment, where more is to be said of it than that. */
  readonly fault?: TollhouseError;
}

/** One scheme on one network, with the fee payer that is offered for it. */
export interface SupportedKind {
  readonly scheme: string;
  readonly network: NetworkId;
  readonly feePayer: string;
  readonly hint?: BlockhashHint;
}
