import { randomBytes } from 'node:crypto';
import bs58 from 'bs58';

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

const ID_BYTES = 16;
/** Every response has an id, and asking the system for 16 bytes costs as much as for all of these. */
const POOL_BYTES = 4_096;

let pool = randomBytes(POOL_BYTES);
let used = 0;

/** A new id: the prefix, `_`, and base58 of 16 random bytes. */
export function newId(prefix: IdPrefix): string {
  return `${prefix}_${bs58.encode(take(ID_BYTES))}`;
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
