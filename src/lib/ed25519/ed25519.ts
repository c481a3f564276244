import { createPrivateKey, createPublicKey, type KeyObject, sign, verify } from 'node:crypto';
import { boundedCache } from '../bounded-cache.js';
import { isSmallOrder } from './small-order.js';

// RFC 8410: the fixed DER head of an Ed25519 private key (PKCS #8).
const PKCS8_HEAD = Buffer.from('302e020100300506032b657004220420', 'hex');

// Payers come again.
const publicKeys = boundedCache<string, KeyObject>({ max: 5_000 });

function publicKeyObject(publicKey: Uint8Array): KeyObject {
  const id = Buffer.from(publicKey.buffer, publicKey.byteOffset, publicKey.byteLength).toString('latin1');
  let key = publicKeys.get(id);
  if (key === undefined) {
    // From a JWK the key is taken as it is; OpenSSL's reader of DER costs as much as a verification.
    const x = Buffer.from(publicKey).toString('base64url');
    key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
    publicKeys.set(id, key);
  }
  return key;
}

/**
 * Whether `signature` (64 bytes) is the Ed25519 signature of `message` by `publicKey` (32 bytes), as strictly as the chain
 * looks at it: points of small order are refused, in the key and in the signature, see {@link isSmallOrder}. Never throws.
 */
export function verifyEd25519(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean {
  if (publicKey.length !== 32 || signature.length !== 64) return false;
  if (isSmallOrder(publicKey) || isSmallOrder(signature.subarray(0, 32))) return false;
  try {
    return verify(null, message, publicKeyObject(publicKey), signature);
  } catch {
    return false;
  }
}

/** A key that signs; its secret is held by OpenSSL and not printable. */
export interface Ed25519Signer {
  readonly publicKey: Uint8Array;
  sign(message: Uint8Array): Uint8Array;
}

/** Makes a signer from a 32-byte seed. */
export function createEd25519Signer(seed: Uint8Array): Ed25519Signer {
  const der = Buffer.concat([PKCS8_HEAD, seed]);
  const key = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
  der.fill(0);
  const { x = '' } = createPublicKey(key).export({ format: 'jwk' });
  return {
    publicKey: Uint8Array.from(Buffer.from(x, 'base64url')),
    sign: (message) => new Uint8Array(sign(null, message, key)),
  };
}
