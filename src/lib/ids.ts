import { randomBytes } from 'node:crypto';

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

const BASE58 = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';
const ID_LENGTH = 22;
/** Every response has an id, and asking the system for 16 bytes costs as much as for all of these. */
const POOL_BYTES = 4_096;

let pool = randomBytes(POOL_BYTES);
let used = 0;

/** A new id: the prefix, `_`, and 22 random characters of base58, which are 128 bits. */
export function newId(prefix: IdPrefix): string {
  // Two bytes each: of one, the remainder would favour some characters.
  const random = take(2 * ID_LENGTH);
  let id = `${prefix}_`;
  for (let at = 0; at < random.length; at += 2) id += BASE58.charAt(random.readUInt16LE(at) % BASE58.length);
  return id;
}

/** Some random bytes, in hexadecimal. At most a few dozen: they come from the same store as the ids. */
export function randomHex(bytes: number): string {
  return take(bytes).toString('hex');
}

function take(bytes: number): Buffer {
  if (used + bytes > pool.length) {
    pool = randomBytes(POOL_BYTES);
    used = 0;
  }
  used += bytes;
  return pool.subarray(used - bytes, used);
}
