import { TollhouseError } from '../errors/errors.js';
import { type MaybePromise, whenKnown } from '../lib/maybe-promise.js';
import type { Counters } from '../storage/counters/counters.js';

/** A statement that was taken, times in milliseconds since the epoch. */
export interface NamedDelegate {
  /** When it was made. */
  readonly at: number;
  /** When it is over. */
  readonly endsAt: number;
  readonly delegate: string;
}

/** What each holder has said last: who stands for it, or nobody. An earlier word is never taken after a later one. */
export interface HolderWords {
  /** Takes a statement; false when the holder has said something else since. The last word may be said again. */
  name(holder: string, named: NamedDelegate): Promise<boolean>;
  /** Nobody stands for the holder, whatever it has said until then. */
  revoke(holder: string, at: number): Promise<void>;
  /** Who stands for a holder. */
  delegateOf(holder: string): MaybePromise<string | undefined>;
}

interface Parts {
  readonly counters: Counters;
  /** Where they are said: a word counts there alone. At most 32 characters. */
  readonly site: string;
  readonly now: () => number;
  /** How long after it was made a statement may come, in milliseconds. */
  readonly heedMs: number;
}

/** How often another may be quicker with a word of the same holder. */
const MAX_TRIES = 100;
const NOBODY = '';

/** Keeps the words in counters, each in one entry, so that instances which share them agree on the last. */
export function createHolderWords({ counters, site, now, heedMs }: Parts): HolderWords {
  const keyOf = (holder: string) => `delegate-of:${site}:${holder}`;
  const markOf = (holder: string, turn: number) => `delegation-said:${site}:${holder} ${turn}`;
  const delegateIn = ({ endsAt, delegate }: NamedDelegate): string | undefined =>
    delegate === NOBODY || endsAt <= now() ? undefined : delegate;

  /** A value may be forgotten early, a mark is not, and comes after it: where the mark says that there was a word, absence is not silence. */
  async function isForgotten(holder: string): Promise<boolean> {
    const turn = Math.floor(now() / heedMs);
    const isMarked = await counters.anyTaken([markOf(holder, turn), markOf(holder, turn - 1)]);
    return isMarked && (await counters.get(keyOf(holder))) === undefined;
  }

  /** Words were kept without their site before, and lasted for a year at most: of which site they are nobody knows, so they let nobody in. */
  async function hasSaidSince(holder: string, at: number): Promise<boolean> {
    const former = read(await counters.get(`delegate-of:${holder}`));
    return former !== undefined && former.at > at;
  }

  /** Writes a word over the one that is there, unless `wordAfter` has none. */
  async function say(
    holder: string,
    wordAfter: (before: NamedDelegate | undefined) => Promise<NamedDelegate | undefined>,
  ): Promise<boolean> {
    for (let tries = 0; tries < MAX_TRIES; tries += 1) {
      const stored = await counters.get(keyOf(holder));
      const word = await wordAfter(read(stored));
      if (word === undefined) return false;
      const ttl = Math.max(heedMs, word.endsAt - now());
      if (!(await counters.replace(keyOf(holder), stored, written(word), ttl))) continue;
      await counters.takeOnce(markOf(holder, Math.floor(now() / heedMs)), 2 * heedMs);
      return true;
    }
    const detail = 'Others say something for the same wallet at the same time; try again shortly.';
    throw new TollhouseError('store_unavailable', detail, { retryAfterSeconds: 2 });
  }

  return {
    name: (holder, named) =>
      say(holder, async (before) => {
        if (await hasSaidSince(holder, named.at)) return undefined;
        if (before === undefined) return (await isForgotten(holder)) ? undefined : named;
        return before.at < named.at || written(before) === written(named) ? named : undefined;
      }),
    revoke: async (holder, at) => {
      await say(holder, async (before) => ({ at: Math.max(at, before?.at ?? 0), endsAt: 0, delegate: NOBODY }));
    },
    delegateOf: (holder) =>
      whenKnown(counters.get(keyOf(holder)), (stored) => {
        const word = read(stored);
        return word && delegateIn(word);
      }),
  };
}

function written({ at, endsAt, delegate }: NamedDelegate): string {
  return `${at} ${endsAt} ${delegate}`;
}

function read(stored: string | undefined): NamedDelegate | undefined {
  const [, at, endsAt, delegate = NOBODY] = /^(\d+) (\d+) (\w*)$/.exec(stored ?? '') ?? [];
  return at === undefined ? undefined : { at: Number(at), endsAt: Number(endsAt), delegate };
}
