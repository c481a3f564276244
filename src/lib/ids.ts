import { hash, randomFillSync } from 'node:crypto';

/** Kinds of things that have an id. */
export type IdPrefix =
  | 'pay'
  | 'prj'
  | 'key'
  | 'evt'
  | 'whk'
  | 'dlv'
  | 'lst'
  | 'req'
  | 'call'
  | 'pyo'
  | 'aud'
  | 'pas'
  | 'rfd';

/** In the order of its bytes. */
const ALPHABET = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';
const BASE58 = Buffer.from(ALPHABET);
const ID_LENGTH = 22;
/** Enough for some thousand years. */
const TIME_LENGTH = 8;
const characters = Buffer.alloc(ID_LENGTH);
/** Every request needs some, and asking the system for a few bytes costs as much as for all of these. */
const pool = Buffer.alloc(8192);
let used = pool.length;

/** A new id: the prefix, `_`, and 22 random characters of base58, which are 128 bits. */
export function newId(prefix: IdPrefix): string {
  // Two bytes each: of one, the remainder would favour some characters.
  return spelled(prefix, randomPart(2 * ID_LENGTH));
}

/**
 * The same for what is kept in great numbers: it begins with a time, and 14 of its characters are random. Those of one time lie together
 * in an index, where others would each have a page of it written.
 * @param at - milliseconds since the epoch
 */
export function newIdAt(prefix: IdPrefix, at: number): string {
  let [time, rest] = ['', Math.max(0, Math.floor(at))];
  for (let place = 0; place < TIME_LENGTH; place += 1) {
    time = ALPHABET.charAt(rest % ALPHABET.length) + time;
    rest = Math.floor(rest / ALPHABET.length);
  }
  return `${prefix}_${time}${newId(prefix).slice(-ID_LENGTH + TIME_LENGTH)}`;
}

/** The id of something that is known by its parts: the same parts have the same one. */
export function idFrom(prefix: IdPrefix, parts: readonly string[]): string {
  return spelled(prefix, hash('sha512', JSON.stringify(parts), 'buffer'));
}

function spelled(prefix: IdPrefix, bytes: Buffer): string {
  for (let at = 0; at < ID_LENGTH; at += 1) {
    const number = (bytes[2 * at] ?? 0) + 256 * (bytes[2 * at + 1] ?? 0);
    characters[at] = BASE58[number % BASE58.length] ?? 0;
  }
  return `${prefix}_${characters.toString('latin1')}`;
}

/** Some random bytes, in hexadecimal. */
export function randomHex(bytes: number): string {
  return randomPart(bytes).toString('hex');
}

/** Random bytes that nobody else is given, to be used at once: what was there is written over later. At most 1024. */
export function randomPart(length: number): Buffer {
  if (used + length > pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  used += length;
  return pool.subarray(used - length, used);
}
