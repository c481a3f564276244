import { createPrivateKey, createPublicKey, type KeyObject, sign, verify } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { isSmallOrder } from './small-order.js';

// RFC 8410: the fixed DER heads of an Ed25519 public key (SPKI) and private key (PKCS #8).
const SPKI_HEAD = Buffer.from('302a300506032b6570032100', 'hex');
const PKCS8_HEAD = Buffer.from('302e020100300506032b657004220420', 'hex');

// Building a key object costs as much as a verification, and payers come again.
const publicKeys = new LRUCache<string, KeyObject>({ max: 5_000 });

function publicKeyObject(publicKey: Uint8Array): KeyObject {
  const id = Buffer.from(publicKey).toString('latin1');
  let key = publicKeys.get(id);
  if (key === undefined) {
    key = createPublicKey({ key: Buffer.concat([SPKI_HEAD, publicKey]), format: 'der', type: 'spki' });
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
  const publicKey = createPublicKey(key).export({ format: 'der', type: 'spki' }).subarray(SPKI_HEAD.length);
  return { publicKey: Uint8Array.from(publicKey), sign: (message) => Uint8Array.from(sign(null, message, key)) };
}
