import type Jwt from 'jsonwebtoken';
import { z } from 'zod';
import { boundedCache } from '../../lib/bounded-cache.js';
import { type MaybePromise, whenKnown } from '../../lib/maybe-promise.js';
import { shown } from '../../lib/parsed.js';
import { isAddress } from '../../protocol/address.js';
import { toCaip2 } from '../../protocol/networks/networks.js';
import type { NetworkId } from '../../protocol/types.js';
import type { Counters } from '../../storage/counters/counters.js';
import { CLOCK_SKEW_MS } from '../sign-in-options.js';
import type { ProofFault } from '../types.js';
import type { KeyRing } from './key-ring.js';

/** What an access token says. */
export interface AccessClaims {
  /** The site that it is for. */
  readonly audience: string;
  /** The wallet, base58. */
  readonly address: string;
  readonly scopes: readonly string[];
  /** The session it was given out in; it dies with the session. */
  readonly session: string;
}

/** What came out of checking an access token. */
export type AccessCheck =
  | {
      readonly ok: true;
      readonly claims: AccessClaims;
      readonly id: string;
      readonly expiresAt: number;
      /** What is marked in the counters when it, or its session, is revoked. */
      readonly marks: readonly string[];
    }
  | { readonly ok: false; readonly code: ProofFault; readonly detail: string };

/** Access tokens: JWTs by RFC 9068. */
export interface AccessTokens {
  /** A new token, good for {@link ACCESS_TOKEN_MS}. */
  issue(claims: AccessClaims): Promise<string>;
  /**
   * Checks a token, and that neither it nor its session was revoked. Rejects or throws when that cannot be looked up.
   * @param audience - the site that it must be for; default: any
   */
  check(token: string, audience?: string): MaybePromise<AccessCheck>;
  /** Refuses one token from now on. One that is not valid anyway is left alone. */
  deny(token: string): Promise<void>;
  /** Refuses every token of a session from now on. */
  denySession(session: string): Promise<void>;
}

/** What access tokens are made with. */
export interface AccessTokenSetup {
  readonly ring: KeyRing;
  readonly issuer: string;
  /** Tokens of another one are refused: test money opens nothing live. */
  readonly network: NetworkId;
  readonly counters: Counters;
  /** Clock, milliseconds since the epoch. */
  readonly now: () => number;
  /** A new, unguessable name for a token. */
  readonly newId: () => string;
}

/** How long an access token is good, in milliseconds. */
export const ACCESS_TOKEN_MS = 15 * 60_000;

const TYPE = 'at+jwt';
const REVOKED = refused('invalid_access_token', 'it was revoked; sign in again');
const SUBJECT = 'wallet:';
const MAX_TOKEN_LENGTH = 4_096;
/** Tokens whose signature was found right are not looked at again, until they expire: a wallet sends one many times. */
const MAX_VERIFIED = 5_000;

const headerSchema = z.object({ typ: z.literal(TYPE), kid: z.string() });
const claimsSchema = z.object({
  aud: z.string(),
  network: z.string(),
  sub: z.string().refine((it) => it.startsWith(SUBJECT) && isAddress(it.slice(SUBJECT.length))),
  iat: z.int(),
  exp: z.int(),
  jti: z.string().min(1).max(64),
  sid: z.string().min(1).max(64),
  scope: z.string(),
});

type JwtPackage = typeof Jwt;

/** Makes access tokens with the keys of a ring. */
export function createAccessTokens(setup: AccessTokenSetup): AccessTokens {
  const { counters, now } = setup;
  const verified = boundedCache<string, Extract<AccessCheck, { ok: true }>>({ max: MAX_VERIFIED });
  // Loaded from here on, not with the package.
  const loading = import('jsonwebtoken').then((it) => it.default);

  function readOnce(token: string): MaybePromise<AccessCheck> {
    const known = verified.get(token);
    if (known !== undefined && now() < known.expiresAt) return known;
    return loading.then((jwt) => {
      const read = readToken(jwt, setup, token);
      if (read.ok) verified.set(token, read);
      else verified.delete(token);
      return read;
    });
  }

  function check(token: string, audience?: string): MaybePromise<AccessCheck> {
    return whenKnown(readOnce(token), (read) => {
      if (!read.ok) return read;
      if (audience !== undefined && read.claims.audience !== audience) {
        return refused(
          'invalid_access_token',
          `its audience is ${shown(read.claims.audience)}; here it must be ${shown(audience)}`,
        );
      }
      return whenKnown(counters.anyTaken(read.marks), (isRevoked) => (isRevoked ? REVOKED : read));
    });
  }

  async function deny(token: string): Promise<void> {
    const read = readToken(await loading, setup, token);
    if (read.ok) await counters.takeOnce(tokenKey(read.id), read.expiresAt - now() + CLOCK_SKEW_MS);
  }

  async function denySession(session: string): Promise<void> {
    await counters.takeOnce(sessionKey(session), ACCESS_TOKEN_MS + CLOCK_SKEW_MS);
  }

  return { issue: async (claims) => issue(await loading, setup, claims), check, deny, denySession };
}

function issue(jwt: JwtPackage, { ring, issuer, network, now, newId }: AccessTokenSetup, claims: AccessClaims): string {
  const iat = Math.floor(now() / 1_000);
  const { kid, key } = ring.signing;
  const payload = {
    scope: claims.scopes.join(' '),
    sid: claims.session,
    network: toCaip2(network),
    iat,
    exp: iat + ACCESS_TOKEN_MS / 1_000,
  };
  return jwt.sign(payload, key, {
    algorithm: ring.algorithm,
    header: { alg: ring.algorithm, typ: TYPE, kid },
    issuer,
    audience: claims.audience,
    subject: `${SUBJECT}${claims.address}`,
    jwtid: newId(),
  });
}

function readToken(jwt: JwtPackage, { ring, issuer, network, now }: AccessTokenSetup, token: string): AccessCheck {
  if (token.length > MAX_TOKEN_LENGTH)
    return refused('invalid_access_token', `it is longer than ${MAX_TOKEN_LENGTH} characters`);
  const header = headerSchema.safeParse(headerOf(jwt, token));
  if (!header.success) return refused('invalid_access_token', `it is not a JWT of the type ${TYPE} that names its key`);
  const key = ring.verifying.get(header.data.kid);
  if (key === undefined)
    return refused('invalid_access_token', 'it was signed with a key that is not, or no longer, in use here');
  const clockTimestamp = Math.floor(now() / 1_000);
  try {
    const options = { algorithms: [ring.algorithm], issuer, clockTimestamp };
    return readClaims(jwt.verify(token, key, options), toCaip2(network));
  } catch (error) {
    if (error instanceof jwt.TokenExpiredError) {
      return refused('token_expired', `it expired at ${error.expiredAt.toISOString()}; refresh it or sign in again`);
    }
    // A key that OpenSSL cannot use with a hostile signature is an error of another class.
    return refused(
      'invalid_access_token',
      error instanceof jwt.JsonWebTokenError ? error.message : 'its signature is not valid',
    );
  }
}

function headerOf(jwt: JwtPackage, token: string): unknown {
  try {
    return jwt.decode(token, { complete: true })?.header;
  } catch {
    return undefined;
  }
}

function readClaims(payload: unknown, network: string): AccessCheck {
  const claims = claimsSchema.safeParse(payload);
  if (!claims.success) {
    const names = [...new Set(claims.error.issues.map((issue) => String(issue.path[0])))].join(', ');
    return refused('invalid_access_token', `these claims are missing or wrong: ${names}`);
  }
  const { sub, aud, exp, jti, sid, scope } = claims.data;
  if (claims.data.network !== network) {
    return refused('invalid_access_token', `its network is ${shown(claims.data.network)}; here it must be ${network}`);
  }
  const scopes = scope.split(' ').filter((it) => it !== '');
  return {
    ok: true,
    claims: { address: sub.slice(SUBJECT.length), audience: aud, scopes, session: sid },
    id: jti,
    expiresAt: exp * 1_000,
    marks: [tokenKey(jti), sessionKey(sid)],
  };
}

function refused(code: ProofFault, detail: string): AccessCheck {
  return { ok: false, code, detail: `The access token is not accepted: ${detail}.` };
}

function tokenKey(id: string): string {
  return `denied-token:${id}`;
}

function sessionKey(session: string): string {
  return `denied-session:${session}`;
}
