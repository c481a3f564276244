import bs58 from 'bs58';
import { boundedCache } from '../lib/bounded-cache.js';

const ADDRESS_PATTERN = /^[1-9A-HJ-NP-Za-km-z]{32,44}$/;
const SIGNATURE_PATTERN = /^[1-9A-HJ-NP-Za-km-z]{64,88}$/;

// Base58 is slow and the same few keys come again in every transaction.
const texts = boundedCache<string, string>({ max: 10_000 });
const keys = boundedCache<string, Uint8Array>({ max: 10_000 });

/** The base58 text of a 32-byte public key. */
export function addressOf(bytes: Uint8Array): string {
  return addressAt(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), 0, bytes.byteLength);
}

/** The base58 text of a public key among other bytes: what reads many of them makes no object of each. */
export function addressAt(bytes: Buffer, start: number, length = 32): string {
  const key = bytes.toString('latin1', start, start + length);
  let text = texts.get(key);
  if (text === undefined) {
    text = bs58.encode(bytes.subarray(start, start + length));
    texts.set(key, text);
  }
  return text;
}

/** The 32 bytes of an address. Throws a TypeError when the text is not an address; see {@link isAddress}. */
export function addressBytes(address: string): Uint8Array {
  const cached = keys.get(address);
  if (cached !== undefined) return cached;
  const bytes = decodeAddress(address);
  if (bytes === undefined) throw new TypeError(`"${address.slice(0, 64)}" is not a Solana address`);
  keys.set(address, bytes);
  return bytes;
}

/** Whether a text is the base58 of exactly 32 bytes. */
export function isAddress(text: string): boolean {
  if (keys.has(text)) return true;
  const bytes = decodeAddress(text);
  if (bytes !== undefined) keys.set(text, bytes);
  return bytes !== undefined;
}

function decodeAddress(text: string): Uint8Array | undefined {
  if (!ADDRESS_PATTERN.test(text)) return undefined;
  const bytes = bs58.decodeUnsafe(text);
  return bytes?.length === 32 ? bytes : undefined;
}

/** The base58 text of a 64-byte signature. */
export function signatureText(bytes: Uint8Array): string {
  return bs58.encode(bytes);
}

/** Whether a text is the base58 of exactly 64 bytes. */
export function isSignature(text: string): boolean {
  return SIGNATURE_PATTERN.test(text) && bs58.decodeUnsafe(text)?.length === 64;
}
