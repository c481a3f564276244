import { createHash } from 'node:crypto';
import { createEd25519Signer } from '../../../src/lib/ed25519/ed25519.js';

/** The neutral point of the curve (RFC 8032: y = 1). As a public key, one signature of it is good for every message. */
export const NEUTRAL_POINT: Uint8Array = Uint8Array.of(1, ...new Uint8Array(31));

/** Order of the group in which signatures count. */
export const GROUP_ORDER = 2n ** 252n + 27742317777372353535851937790883648493n;

/** A signature by the neutral point, made without any secret of it; its commitment is an ordinary point. */
export function signatureByNobody(): Uint8Array {
  const seed = new Uint8Array(32).fill(7);
  return Buffer.concat([createEd25519Signer(seed).publicKey, scalarBytes(secretScalar(seed) % GROUP_ORDER)]);
}

/** Signs with the nonce zero: the commitment is the neutral point. Good by the equation of RFC 8032; the chain refuses it. */
export function signWithoutNonce(seed: Uint8Array, message: Uint8Array): Uint8Array {
  const { publicKey } = createEd25519Signer(seed);
  const digest = createHash('sha512').update(NEUTRAL_POINT).update(publicKey).update(message).digest();
  const scalar = ((littleEndian(digest) % GROUP_ORDER) * secretScalar(seed)) % GROUP_ORDER;
  return Buffer.concat([NEUTRAL_POINT, scalarBytes(scalar)]);
}

/** A signature with its scalar enlarged by the order of the group: good by arithmetic, not in its one spelling. */
export function respelled(signature: Uint8Array): Uint8Array {
  const scalar = littleEndian(signature.subarray(32)) + GROUP_ORDER;
  return Buffer.concat([signature.subarray(0, 32), scalarBytes(scalar)]);
}

function secretScalar(seed: Uint8Array): bigint {
  const secret = createHash('sha512').update(seed).digest().subarray(0, 32);
  secret.writeUInt8(secret.readUInt8(0) & 248, 0);
  secret.writeUInt8((secret.readUInt8(31) & 127) | 64, 31);
  return littleEndian(secret);
}

/** The number that bytes spell. */
export function littleEndian(bytes: Uint8Array): bigint {
  return BigInt(`0x${Buffer.from(bytes).reverse().toString('hex')}`);
}

function scalarBytes(scalar: bigint): Buffer {
  return Buffer.from(scalar.toString(16).padStart(64, '0'), 'hex').reverse();
}
