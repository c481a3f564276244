import type Jwt from 'jsonwebtoken';
import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import { defined } from '../../lib/defined.js';
import type { MaybePromise } from '../../lib/maybe-promise.js';
import { isAddress } from '../../protocol/address.js';
import type { PassKind } from '../../storage/passes/pass-store.js';
import type { PassClaims, PassReading, PassTokens } from '../types.js';
import type { KeyRing } from './key-ring.js';

/** What tokens of passes are made with. */
export interface PassTokenSetup {
  /** The keys, asked for when they are first needed, and again where that failed. */
  readonly ring: () => MaybePromise<KeyRing>;
  /** Clock, milliseconds since the epoch. */
  readonly now: () => number;
}

const TYPE = 'pass+jwt';
const ISSUER = 'tollhouse';
const SUBJECT = 'wallet:';
const MAX_TOKEN_LENGTH = 4_096;
/** One that was found right is shown many times. */
const MAX_READ = 5_000;

type JwtPackage = typeof Jwt;

const headerSchema = z.object({ typ: z.literal(TYPE), kid: z.string() });
const claimsSchema = z.object({
  sub: z.string().refine((it) => it.startsWith(SUBJECT) && isAddress(it.slice(SUBJECT.length))),
  jti: z.string().min(1).max(64),
  aud: z.string(),
  routes: z.tuple([z.string()]),
  kind: z.enum(['uses', 'until', 'credit'] satisfies readonly PassKind[]),
  mint: z.string().refine(isAddress).optional(),
  serial: z.int().min(0),
  exp: z.int().optional(),
});

/** Makes tokens of passes with the keys of a ring. They differ from access tokens by their type, and neither is taken for the other. */
export function createPassTokens({ ring, now }: PassTokenSetup): PassTokens {
  const known = new LRUCache<string, Extract<PassReading, { ok: true }>>({ max: MAX_READ });
  // Loaded from here on, not with the package.
  const loading = import('jsonwebtoken').then((it) => it.default);

  async function readNew(token: string): Promise<PassReading> {
    const reading = readToken(await loading, await ring(), token);
    if (reading.ok) known.set(token, reading);
    return reading;
  }

  return {
    async issue(claims) {
      return issue(await loading, await ring(), claims, now());
    },
    read: (token) => known.get(token) ?? readNew(token),
  };
}

function issue(
  jwt: JwtPackage,
  { algorithm, signing: { kid, key } }: KeyRing,
  { passId, wallet, site, scope, kind, mint, serial, endsAt }: PassClaims,
  now: number,
): string {
  const end = endsAt === undefined ? {} : { exp: Math.ceil(endsAt / 1_000) };
  const payload = { kind, ...defined({ mint }), serial, routes: [scope], iat: Math.floor(now / 1_000), ...end };
  return jwt.sign(payload, key, {
    algorithm,
    header: { alg: algorithm, typ: TYPE, kid },
    issuer: ISSUER,
    audience: site,
    subject: `${SUBJECT}${wallet}`,
    jwtid: passId,
  });
}

/** The end is not asked here: the pass itself has it to the millisecond, and says so with its own code. */
function readToken(jwt: JwtPackage, ring: KeyRing, token: string): PassReading {
  if (token.length > MAX_TOKEN_LENGTH) return unread(`it is longer than ${MAX_TOKEN_LENGTH} characters`);
  const header = headerSchema.safeParse(headerOf(jwt, token));
  if (!header.success) return unread(`it is not a JWT of the type ${TYPE} that names its key`);
  const key = ring.verifying.get(header.data.kid);
  if (key === undefined) return unread('it was signed with a key that is not, or no longer, in use here');
  try {
    const options = { algorithms: [ring.algorithm], issuer: ISSUER, ignoreExpiration: true };
    return readClaims(jwt.verify(token, key, options));
  } catch (error) {
    // A key that OpenSSL cannot use with a hostile signature is an error of another class.
    return unread(error instanceof jwt.JsonWebTokenError ? error.message : 'its signature is not valid');
  }
}

function headerOf(jwt: JwtPackage, token: string): unknown {
  try {
    return jwt.decode(token, { complete: true })?.header;
  } catch {
    return undefined;
  }
}

function readClaims(payload: unknown): PassReading {
  const claims = claimsSchema.safeParse(payload);
  if (!claims.success) {
    const names = [...new Set(claims.error.issues.map((issue) => String(issue.path[0])))].join(', ');
    return unread(`these claims are missing or wrong: ${names}`);
  }
  const { sub, jti, aud, routes, kind, mint, serial, exp } = claims.data;
  const more = defined({ mint, endsAt: exp === undefined ? undefined : exp * 1_000 });
  const wallet = sub.slice(SUBJECT.length);
  return { ok: true, claims: { passId: jti, wallet, site: aud, scope: routes[0], kind, serial, ...more } };
}

function unread(detail: string): PassReading {
  return { ok: false, detail: `The access pass is not accepted: ${detail}.` };
}
