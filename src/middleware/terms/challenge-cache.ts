import type { LRUCache } from 'lru-cache';
import { boundedCache } from '../../lib/bounded-cache.js';
import type { BlockhashHints, Challenge } from '../../protocol/challenge.js';
import type { CodecChallenge } from '../../protocol/codecs/codec.js';
import { NETWORK_IDS, type Terms } from '../../protocol/types.js';

/** A challenge as it goes over the wire. */
export interface WrittenChallenge {
  readonly challenge: Challenge;
  /** The header fields of each protocol that has some, with the nonce of one 402 in them. */
  readonly headers: readonly NonNullable<CodecChallenge['headers']>[];
  /** The JSON body up to the id of the request. */
  readonly head: string;
  /** And from there on. */
  readonly tail: string;
  /** Whether both are ASCII, which is written at once; a text in UTF-8 is measured first. */
  readonly isAscii: boolean;
}

/** All that a challenge depends on. */
export interface ChallengeInputs {
  /** The facilitator: what is kept is forgotten with it. */
  readonly owner: object;
  /** Address that was asked for, as the client sees it. */
  readonly url: string;
  /** Options of the gate. */
  readonly options: object;
  readonly terms: readonly Terms[];
  readonly hints: BlockhashHints;
  readonly cause: object;
}

interface Kept {
  readonly inputs: ChallengeInputs;
  readonly written: WrittenChallenge;
}

const MAX_KEPT = 500;
/** Addresses are the client's to choose, and a challenge holds its own several times. */
const MAX_URL_LENGTH = 500;

/** By facilitator, with which they go. */
const caches = new WeakMap<object, LRUCache<string, Kept>>();

/** A challenge, written now or as it was written before, which it was only from the very same objects. */
export function writtenChallenge(inputs: ChallengeInputs, write: () => WrittenChallenge): WrittenChallenge {
  const { url, owner } = inputs;
  const cache = cacheOf(owner);
  const known = cache.get(url);
  if (known !== undefined && isSame(known.inputs, inputs)) return known.written;
  const written = write();
  if (url.length <= MAX_URL_LENGTH) cache.set(url, { inputs, written });
  return written;
}

function cacheOf(owner: object): LRUCache<string, Kept> {
  const known = caches.get(owner);
  if (known !== undefined) return known;
  const made = boundedCache<string, Kept>({ max: MAX_KEPT });
  caches.set(owner, made);
  return made;
}

function isSame(one: ChallengeInputs, other: ChallengeInputs): boolean {
  return (
    one.options === other.options &&
    one.terms === other.terms &&
    one.cause === other.cause &&
    NETWORK_IDS.every((id) => one.hints[id] === other.hints[id])
  );
}
