import type { MaybePromise } from '../lib/maybe-promise.js';
import type { PassKind } from '../storage/passes/pass-store.js';

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
  /** Method of the request, in capitals. Default: none, and then a sign-in is for the address alone. */
  readonly method?: string | undefined;
  /** What a sign-in has to be for. Default `request`. */
  readonly scope?: ProofScope | undefined;
}

/** What a sign-in is good for: one method and one path, or whatever a site has that asks for no more. */
export type ProofScope = 'request' | 'site';

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
export type ProofFault =
  | 'invalid_access_token'
  | 'token_expired'
  | 'invalid_sign_in'
  | 'sign_in_replayed'
  | 'wallet_suspended';

/** A proof that is no good. */
export type RefusedProof = { readonly status: 'refused'; readonly code: ProofFault; readonly detail: string };

/** What came out of looking for a proof. A wallet that is merely named, in a query or body, is never proof of anything. */
export type Proof =
  | { readonly status: 'proven'; readonly wallet: ProvenWallet }
  | { readonly status: 'absent' }
  | RefusedProof;

/** A proof that was looked at and not used up. */
export interface InspectedProof {
  readonly proof: Proof;
  /** How to use it up; missing where it is good for many requests, or for none. */
  readonly use?: SignInUse;
}

/** The one use of a proof. */
export interface SignInUse {
  /**
   * Takes it, for one request alone. The refusal where another request has it.
   * @throws TollhouseError `rate_limited` when the wallet has used too many, `store_unavailable`
   */
  take(): Promise<RefusedProof | undefined>;
  /**
   * Gives it back, once taken, for the next request: this one was let in by it and is then asked to pay.
   * @param next - nonce of the challenge that comes with that: known to this caller alone, who may repeat it with the payment
   */
  giveBack(next?: string): Promise<void>;
}

/** A sign-in that a client can answer: the `sign-in-with-x` extension as it goes into a 401 or 402. */
export interface SignInChallenge {
  /** The extension object under its name `sign-in-with-x`, as it goes over the wire. */
  readonly extensions: Readonly<Record<string, unknown>>;
}

/** What the token of a pass says. */
export interface PassClaims {
  readonly passId: string;
  /** The wallet that has paid for it, base58. */
  readonly wallet: string;
  /** The site that sold it, and what it covers there; as in `NewPass`. */
  readonly site: string;
  readonly scope: string;
  readonly kind: PassKind;
  /** Mint of what is left, base58; for `credit` only. */
  readonly mint?: string;
  /** Which generation of the pass's tokens it is of; those of an earlier one were withdrawn. */
  readonly serial: number;
  /** When the pass ends, in milliseconds since the epoch. Missing where it does not by itself. */
  readonly endsAt?: number;
}

/** What came out of reading the token of a pass. Whether the pass is good is not in it. */
export type PassReading =
  | { readonly ok: true; readonly claims: PassClaims }
  | { readonly ok: false /** Sentence for people. */; readonly detail: string };

/** Tokens that show a pass: JWTs. */
export interface PassTokens {
  issue(claims: PassClaims): Promise<string>;
  /** Reads a token; one that was read before without a promise. */
  read(token: string): MaybePromise<PassReading>;
}

/** Keeps wallets signed in that have proven themselves, for browsers that go from page to page. */
export interface SignInSessions {
  /**
   * A token for a wallet at the site of a request; undefined where that has no name to sign in at.
   * @param wallet - proven, base58
   */
  open(
    wallet: string,
    request: IdentityRequest,
  ): Promise<{ readonly token: string; readonly endsAt: number } | undefined>;
  /**
   * The wallet of a token, base58; undefined where it is none, of another site, or over. Rejects where it cannot be looked up whether it
   * was ended.
   */
  read(token: string, request: IdentityRequest): MaybePromise<string | undefined>;
  /** Ends all that a wallet has had so far, everywhere. */
  endAll(wallet: string): Promise<void>;
}

/** Finds out who is calling. Gates use this and nothing else of identity. */
export interface Identity {
  /**
   * Looks for a proof on a request: access token first, then SIGN-IN-WITH-X. Nonces are used up by this. What nobody has to be
   * asked about is answered without a promise.
   */
  prove(request: IdentityRequest): MaybePromise<Proof>;
  /**
   * Looks for a proof like `prove` and leaves it unused, for a gate that has more to ask before it lets a request in. Default:
   * gates use `prove`, and a sign-in is used up by a request that is refused as well.
   */
  inspect?(request: IdentityRequest): MaybePromise<InspectedProof>;
  /**
   * The wallet that has answered a challenge for the address of a request, and whose sign-in was given back there, as a payment was asked
   * for: clients that pay repeat what they were asked with their payment, and not the sign-in. Default: nobody is recalled.
   * @param nonce - of the challenge, as the payment repeats it; known to none but the one who was challenged
   */
  recall?(nonce: string, request: IdentityRequest): MaybePromise<InspectedProof>;
  /**
   * A fresh challenge for the address of a request. Rejects with `not_configured` where nothing says what the site is called
   * and the request was not made to a loopback host.
   */
  challenge(request: IdentityRequest): Promise<SignInChallenge>;
  /** What our pages keep readers signed in with. Default: each sign-in is for one request. */
  readonly sessions?: SignInSessions;
  /** The tokens of passes, signed as its access tokens are. Default: gates have their facilitator's sign them. */
  readonly passTokens?: PassTokens;
}
