import { randomBytes } from 'node:crypto';
import bs58 from 'bs58';

/** Kinds of things that have an id (service.md §1). */
export type IdPrefix = 'pay' | 'prj' | 'key' | 'evt' | 'whk' | 'dlv' | 'lst' | 'req';

const ID_BYTES = 16;

/** A new id: the prefix, `_`, and base58 of 16 random bytes. */
export function newId(prefix: IdPrefix): string {
  return `${prefix}_${bs58.encode(randomBytes(ID_BYTES))}`;
}
