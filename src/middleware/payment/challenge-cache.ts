import { LRUCache } from 'lru-cache';
import type { DoorOffer } from '../../protocol/codecs/codec.js';
import type { BlockhashHint, Offer } from '../../protocol/payment-required.js';
import type { Terms } from '../../protocol/types.js';

/** An offer as it goes over the wire. */
export interface WrittenOffer {
  readonly offer: Offer;
  /** The header fields of each protocol, with the nonce of one 402 in them. */
  readonly headers: readonly DoorOffer['headers'][];
  /** The JSON body up to the id of the request. */
  readonly head: string;
  /** And from there on. */
  readonly tail: string;
}

/** All that an offer depends on. */
export interface OfferInputs {
  /** The facilitator: what is kept is forgotten with it. */
  readonly owner: object;
  /** Address that was asked for, as the client sees it. */
  readonly url: string;
  /** Options of the gate. */
  readonly options: object;
  readonly terms: readonly Terms[];
  readonly hint: BlockhashHint | undefined;
  readonly cause: object;
}

interface Kept extends Omit<OfferInputs, 'url' | 'owner'> {
  readonly written: WrittenOffer;
}

const MAX_KEPT = 500;
/** Addresses are the client's to choose, and an offer holds its own several times. */
const MAX_URL_LENGTH = 500;

/** By facilitator, with which they go. */
const caches = new WeakMap<object, LRUCache<string, Kept>>();

/** An offer, written now or as it was written before, which it was only from the very same objects. */
export function writtenOffer({ url, owner, ...inputs }: OfferInputs, write: () => WrittenOffer): WrittenOffer {
  const kept = caches.get(owner) ?? new LRUCache<string, Kept>({ max: MAX_KEPT });
  caches.set(owner, kept);
  const known = kept.get(url);
  if (known !== undefined && isSame(known, inputs)) return known.written;
  const written = write();
  if (url.length <= MAX_URL_LENGTH) kept.set(url, { ...inputs, written });
  return written;
}

function isSame(one: Omit<OfferInputs, 'url' | 'owner'>, other: Omit<OfferInputs, 'url' | 'owner'>): boolean {
  return (
    one.options === other.options && one.terms === other.terms && one.hint === other.hint && one.cause === other.cause
  );
}
