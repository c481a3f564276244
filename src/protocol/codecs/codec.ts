import type { Challenge } from '../challenge.js';
import type { NetworkId, Payment, Settlement } from '../types.js';

/** What a codec adds to a 402. */
export interface CodecChallenge {
  /**
   * Header fields, names in the protocol's spelling, for one 402. Missing for protocols that have none.
   * @param nonce - its secret, made by `newNonce`; clients of protocols that echo terms send it back
   */
  readonly headers?: (nonce: string) => Readonly<Record<string, string>>;
  /** Fields of the JSON body, for protocols that put their terms there. */
  readonly body?: Readonly<Record<string, unknown>>;
}

/**
 * What came out of a payment header: a payment, or what is wrong with it. `invalid_payment_header` (400) is a header that
 * cannot be read; `no_matching_requirements` (402) a payment in a scheme or on a network that is never offered here.
 */
export type Reading =
  | { readonly ok: true; readonly payment: Payment }
  | {
      readonly ok: false;
      readonly code: 'invalid_payment_header' | 'no_matching_requirements';
      /** A sentence for the payer. */
      readonly detail: string;
    };

/**
 * A way to pay over HTTP: a thin codec between the wire and the version-free model.
 * Codecs hold no state and do no checks of money; what they read is judged by the facilitator.
 */
export interface PaymentCodec {
  readonly name: string;
  /** Request header that carries the payment, in lower case. */
  readonly requestHeader: string;
  /** Response headers that browsers' scripts must be allowed to read. */
  readonly exposedHeaders: readonly string[];
  /** What a 402 says in this protocol. */
  challenge(challenge: Challenge): CodecChallenge;
  /** Reads the payment header. Never throws: a malformed header is a value. */
  read(header: string): Reading;
  /** Headers of the response that tell how the settlement ended. */
  receipt(settlement: Settlement, network: NetworkId): Readonly<Record<string, string>>;
}
