import bs58 from 'bs58';
import { LRUCache } from 'lru-cache';

/** The same few programs, mints and wallets appear in every transaction, and base58 is slow. */
const TEXTS = new LRUCache<string, string>({ max: 10_000 });
const BYTES = new LRUCache<string, Uint8Array>({ max: 10_000 });

/** The base58 text of an address. */
export function toAddress(bytes: Uint8Array): string {
  const key = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
  const known = TEXTS.get(key);
  if (known !== undefined) {
    return known;
  }
  const text = toBase58(bytes);
  TEXTS.set(key, text);
  return text;
}

/** The bytes of an address; not to be written to. */
export function fromAddress(address: string): Uint8Array {
  const known = BYTES.get(address);
  if (known !== undefined) {
    return known;
  }
  const bytes = Uint8Array.from(bs58.decode(address));
  BYTES.set(address, bytes);
  return bytes;
}

/**
 * The base58 text of any bytes. It goes through a buffer because the encoder builds it character by character, which the
 * engine keeps as a chain of pieces: a kilobyte for every address in the history.
 */
export function toBase58(bytes: Uint8Array): string {
  return Buffer.from(bs58.encode(Buffer.from(bytes))).toString('latin1');
}
