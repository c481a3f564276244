import {
  createHash,
  createHmac,
  createPrivateKey,
  createPublicKey,
  createSecretKey,
  type JsonWebKey,
  KeyObject,
} from 'node:crypto';
import { badOption } from '../../errors/errors.js';

/** Public keys as others fetch them to check our tokens (RFC 7517). */
export interface Jwks {
  readonly keys: readonly Readonly<Record<string, unknown>>[];
}

/** The keys of access tokens: one signs, all verify. The algorithm is that of the ring, never that of a token. */
export interface KeyRing {
  readonly algorithm: 'HS256' | 'ES256';
  readonly signing: { readonly kid: string; readonly key: KeyObject };
  /** By `kid`. */
  readonly verifying: ReadonlyMap<string, KeyObject>;
  /** Empty for secrets. */
  readonly jwks: Jwks;
}

/** A secret, in UTF-8 when it is a text. */
export type Secret = string | Uint8Array;

/** An EC key on P-256: PEM text, or a key object. */
export type EcKey = string | KeyObject;

/** Shortest secret, in bytes: as long as the digest of HS256 (RFC 7518 §3.2). */
export const MIN_SECRET_BYTES = 32;

/**
 * A ring of shared secrets for HS256. The first one signs; keep an old one behind it until its last token has expired.
 * @param where - the function that was given them, for the message
 * @throws TollhouseError `bad_option`
 */
export function createSecretRing(where: string, secrets: readonly Secret[]): KeyRing {
  const entries = secrets.map((secret) => {
    const bytes = Buffer.from(secret);
    if (bytes.length < MIN_SECRET_BYTES) {
      const detail = `option "jwtSecret" must be at least ${MIN_SECRET_BYTES} bytes long; make one with "openssl rand -base64 48"`;
      throw badOption(where, detail, 'jwtSecret');
    }
    const kid = createHmac('sha256', bytes).update('name of this secret').digest('base64url').slice(0, 16);
    const key = createSecretKey(bytes);
    bytes.fill(0);
    return [kid, key] as const;
  });
  return ringOf(where, 'jwtSecret', { algorithm: 'HS256', entries, signingKey: entries[0]?.[1], jwks: { keys: [] } });
}

/**
 * A ring of EC keys for ES256. The first one signs and must be private; others may be public. Their `kid` is the
 * thumbprint of RFC 7638.
 * @param where - the function that was given them, for the message
 * @throws TollhouseError `bad_option`
 */
export function createEcRing(where: string, keys: readonly EcKey[]): KeyRing {
  const read = keys.map((key, at) => readEcKey(where, key, at));
  const publics = read.map((key) => (key.type === 'private' ? createPublicKey(key) : key));
  const named = publics.map((key) => ({ key, kid: thumbprint(key), jwk: key.export({ format: 'jwk' }) }));
  const [signingKey] = read;
  if (signingKey?.type === 'public')
    throw badOption(where, 'the first of "keys" signs and must be a private key', 'keys');
  return ringOf(where, 'keys', {
    algorithm: 'ES256',
    entries: named.map(({ kid, key }) => [kid, key] as const),
    signingKey,
    jwks: { keys: named.map(({ jwk, kid }) => ({ ...jwk, kid, alg: 'ES256', use: 'sig' })) },
  });
}

interface RingParts extends Pick<KeyRing, 'algorithm' | 'jwks'> {
  readonly entries: readonly (readonly [kid: string, key: KeyObject])[];
  readonly signingKey: KeyObject | undefined;
}

function ringOf(where: string, option: string, { algorithm, jwks, entries, signingKey }: RingParts): KeyRing {
  const [first] = entries;
  if (first === undefined || signingKey === undefined) {
    throw badOption(where, `option "${option}" must hold at least one key`, option);
  }
  return { algorithm, signing: { kid: first[0], key: signingKey }, verifying: new Map(entries), jwks };
}

function readEcKey(where: string, input: EcKey, at: number): KeyObject {
  const key = input instanceof KeyObject ? input : readPem(input);
  if (key?.asymmetricKeyType !== 'ec' || key.asymmetricKeyDetails?.namedCurve !== 'prime256v1') {
    const detail = `option "keys.${at}" must be an EC key on the curve P-256, as PEM or KeyObject; make one with "openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256"`;
    throw badOption(where, detail, 'keys');
  }
  return key;
}

function readPem(pem: string): KeyObject | undefined {
  for (const read of [createPrivateKey, createPublicKey]) {
    try {
      return read(pem);
    } catch {
      // Not of this kind. What OpenSSL says of it may quote the key, so nobody is told.
    }
  }
  return undefined;
}

function thumbprint(key: KeyObject): string {
  const { crv, kty, x, y }: JsonWebKey = key.export({ format: 'jwk' });
  return createHash('sha256').update(JSON.stringify({ crv, kty, x, y })).digest('base64url');
}
