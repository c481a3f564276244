import type { MaybePromise } from '../lib/maybe-promise.js';

/** What of an HTTP request may prove who is calling. Header names in lower case. */
export interface IdentityRequest {
  /** Looks up a request header. */
  header(name: string): string | undefined;
  /** Absolute address of the request, as the client sees it. Unless `baseUrl` is given, its host is what the client chose. */
  readonly url: string;
  /**
   * Address under which clients reach the server, as configured: sign-ins name its host. Default: none, and then an identity
   * without `domain` takes sign-ins at loopback hosts only.
   */
  readonly baseUrl?: string | undefined;
}

/** A wallet whose owner is the caller: it signed something for this server. */
export interface ProvenWallet {
  /** Base58. */
  readonly address: string;
  /** How it was proven: an access token, or the header SIGN-IN-WITH-X. */
  readonly by: 'jwt' | 'siwx';
  /** Scopes of the access token; empty for other proofs. */
  readonly scopes: readonly string[];
}

/** Codes of refused proofs; each is in the error table. */
export type ProofFault = 'invalid_access_token' | 'token_expired' | 'invalid_sign_in' | 'sign_in_replayed';

/** What came out of looking for a proof. A wallet that is merely named, in a query or body, is never proof of anything. */
export type Proof =
  | { readonly status: 'proven'; readonly wallet: ProvenWallet }
  | { readonly status: 'absent' }
  | { readonly status: 'refused'; readonly code: ProofFault; readonly detail: string };

/** A sign-in that a client can answer: the `sign-in-with-x` extension as it goes into a 401 or 402. */
export interface SignInChallenge {
  /** The extension object under its name `sign-in-with-x`, as it goes over the wire. */
  readonly extensions: Readonly<Record<string, unknown>>;
}

/** Finds out who is calling. Gates use this and nothing else of identity. */
export interface Identity {
  /**
   * Looks for a proof on a request: access token first, then SIGN-IN-WITH-X. Nonces are used up by this. What nobody has to be
   * asked about is answered without a promise.
   */
  prove(request: IdentityRequest): MaybePromise<Proof>;
  /**
   * A fresh challenge for the address of a request. Rejects with `not_configured` where nothing says what the site is called
   * and the request was not made to a loopback host.
   */
  challenge(request: IdentityRequest): Promise<SignInChallenge>;
}
