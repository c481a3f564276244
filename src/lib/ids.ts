import { randomBytes, randomFillSync } from 'node:crypto';

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

const BASE58 = Buffer.from('123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz');
const ID_LENGTH = 22;
/** Every response has an id, and asking the system for one costs as much as for all of these. */
const random = new Uint16Array(ID_LENGTH * 100);
let used = random.length;
const characters = Buffer.alloc(ID_LENGTH);

/** A new id: the prefix, `_`, and 22 random characters of base58, which are 128 bits. */
export function newId(prefix: IdPrefix): string {
  if (used === random.length) {
    randomFillSync(random);
    used = 0;
  }
  // Two bytes each: of one, the remainder would favour some characters.
  for (let at = 0; at < ID_LENGTH; at += 1) {
    characters[at] = BASE58[(random[used + at] ?? 0) % BASE58.length] ?? 0;
  }
  used += ID_LENGTH;
  return `${prefix}_${characters.toString('latin1')}`;
}

/** Some random bytes, in hexadecimal. */
export function randomHex(bytes: number): string {
  return randomBytes(bytes).toString('hex');
}
