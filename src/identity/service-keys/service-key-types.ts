import type { ErrorCode } from '../../errors/errors.js';
import type { MaybePromise } from '../../lib/maybe-promise.js';
import type { KeyMode, ServiceKeyFacts } from '../../storage/keys/service-keys.js';
import type { Scope } from './scopes.js';

/** A service key without its secret. Times are milliseconds since the epoch. */
export interface ServiceKey extends ServiceKeyFacts {
  readonly scopes: readonly Scope[];
}

/** Where a key stands in its limit of requests a second. */
export interface KeyRate {
  readonly limit: number;
  readonly remaining: number;
  /** Seconds until the count begins anew. */
  readonly resetsInSeconds: number;
}

/**
 * What a request is to a call of a project: the call itself, or what leads to it. Each of them is counted by itself, so that a
 * key has as many whole calls a second as its limit says, however they are paid.
 */
export type CallStep = 'call' | 'price' | 'payment' | 'transaction' | 'settlement' | 'stream';

/** What a request shows to be let in with a key. */
export interface KeyAttempt {
  /** `X-Service-Key`. */
  readonly key: string;
  /** `X-Service-Secret`. */
  readonly secret: string;
  /** Address of the client. */
  readonly address: string;
  /** As what the request is counted. Default `call`. */
  readonly step?: CallStep | undefined;
}

/** Codes of refused keys; each is in the error table. */
export type KeyFault = Extract<
  ErrorCode,
  | 'invalid_service_key'
  | 'service_key_expired'
  | 'service_key_revoked'
  | 'service_key_suspended'
  | 'wallet_suspended'
  | 'wrong_key_mode'
  | 'address_not_allowed'
  | 'rate_limited'
>;

/** What came out of checking a key. */
export type KeyCheck =
  | {
      readonly ok: true;
      readonly key: ServiceKey;
      /** Not known while the counters cannot be reached. */
      readonly rate: KeyRate | undefined;
    }
  | {
      readonly ok: false;
      readonly code: KeyFault;
      readonly detail: string;
      /** The key, where its secret was right and something else is in its way. */
      readonly key?: ServiceKey;
      /** Set when the key's own limit is used up. */
      readonly rate?: KeyRate;
      /** Seconds until another try makes sense, when there were too many. */
      readonly retryAfterSeconds?: number;
    };

/** Finds out whose key a request shows. */
export interface KeyAuthenticator {
  /**
   * Checks key, secret and address, and counts the request against the key's limit: ask once for a request. Rejects with
   * `store_unavailable` when the key cannot be looked up; what nobody has to be asked about is answered without a promise.
   */
  authenticate(attempt: KeyAttempt): MaybePromise<KeyCheck>;
  /** What its keys are unless their owners say otherwise: `live` where mainnet is served. Default: nobody says. */
  readonly mode?: KeyMode;
}
