import { LRUCache } from 'lru-cache';
import type { BlockhashHint, Offer, Terms } from '../protocol/types.js';

/** An offer as it goes over the wire. */
export interface WrittenOffer {
  readonly offer: Offer;
  readonly headers: Readonly<Record<string, string>>;
  /** The JSON body up to the id of the request. */
  readonly head: string;
  /** And from there on. */
  readonly tail: string;
}

/** All that an offer depends on. */
export interface OfferInputs {
  /** Address that was asked for, as the client sees it. */
  readonly url: string;
  /** Options of the gate. */
  readonly options: object;
  readonly terms: readonly Terms[];
  readonly hint: BlockhashHint | undefined;
  readonly cause: object;
}

interface Kept extends Omit<OfferInputs, 'url'> {
  readonly written: WrittenOffer;
}

const MAX_KEPT = 500;
/** Addresses are the client's to choose, and an offer holds its own several times. */
const MAX_URL_LENGTH = 500;

const kept = new LRUCache<string, Kept>({ max: MAX_KEPT });

/** An offer, written now or as it was written before, which it was only from the very same objects. */
export function writtenOffer({ url, ...inputs }: OfferInputs, write: () => WrittenOffer): WrittenOffer {
  const known = kept.get(url);
  if (known !== undefined && isSame(known, inputs)) return known.written;
  const written = write();
  if (url.length <= MAX_URL_LENGTH) kept.set(url, { ...inputs, written });
  return written;
}

function isSame(one: Omit<OfferInputs, 'url'>, other: Omit<OfferInputs, 'url'>): boolean {
  return (
    one.options === other.options && one.terms === other.terms && one.hint === other.hint && one.cause === other.cause
  );
}
