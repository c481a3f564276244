import { createPrivateKey, createPublicKey, type KeyObject, sign, verify } from 'node:crypto';
import { LRUCache } from 'lru-cache';

// RFC 8410: the fixed DER heads of an Ed25519 public key (SPKI) and private key (PKCS #8).
const SPKI_HEAD = Buffer.from('302a300506032b6570032100', 'hex');
const PKCS8_HEAD = Buffer.from('302e020100300506032b657004220420', 'hex');

// The y coordinates of the points of small order, every encoding of each, sign bit aside (RFC 7748 §7; p = 2^255 - 19).
const SMALL_ORDER: ReadonlySet<string> = new Set([
  '0000000000000000000000000000000000000000000000000000000000000000',
  '0100000000000000000000000000000000000000000000000000000000000000',
  '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
  'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
  'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  'edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  'eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
]);
const LAST = 31;

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
 * Whether `signature` (64 bytes) is the Ed25519 signature of `message` by `publicKey` (32 bytes). Keys of small order,
 * such as the System program's address (32 zero bytes), have no secret: anybody can sign for them, so nothing is theirs;
 * the chain refuses them too. Never throws.
 */
export function verifyEd25519(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean {
  if (publicKey.length !== 32 || signature.length !== 64 || isSmallOrder(publicKey)) return false;
  try {
    return verify(null, message, publicKeyObject(publicKey), signature);
  } catch {
    return false;
  }
}

function isSmallOrder(publicKey: Uint8Array): boolean {
  const y = Buffer.from(publicKey);
  y.writeUInt8(y.readUInt8(LAST) & 0x7f, LAST);
  return SMALL_ORDER.has(y.toString('hex'));
}

/** A key that signs; its secret is held by OpenSSL and not printable. */
export interface Ed25519Signer {
  readonly publicKey: Uint8Array;
  sign(message: Uint8Array): Uint8Array;
}

/** Makes a signer from a 32-byte seed. */
export function createEd25519Signer(seed: Uint8Array): Ed25519Signer {
  const key = createPrivateKey({ key: Buffer.concat([PKCS8_HEAD, seed]), format: 'der', type: 'pkcs8' });
  const publicKey = createPublicKey(key).export({ format: 'der', type: 'spki' }).subarray(SPKI_HEAD.length);
  return { publicKey: Uint8Array.from(publicKey), sign: (message) => Uint8Array.from(sign(null, message, key)) };
}
