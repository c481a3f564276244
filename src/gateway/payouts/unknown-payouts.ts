import { TollhouseError } from '../../errors/errors.js';
import type { PastPayouts, PayoutPage, PayoutTrace } from '../../facilitator/payouts/past-payouts.js';
import { inGroups } from '../../lib/work/in-groups.js';
import type { NetworkId } from '../../protocol/types.js';
import type { LandedPayout, PayoutStore } from '../../storage/payouts/payout-store.js';

/** What {@link createUnknownPayouts} works with. */
export interface UnknownPayoutsParts {
  readonly book: Pick<PayoutStore, 'signaturesOf' | 'owedSince'>;
  readonly past: PastPayouts;
  readonly network: NetworkId;
  /** The split wallet, base58. */
  readonly wallet: string;
  /** How many calls of the chain one look costs at most; the next one goes on where it stopped. Default 2,000. */
  readonly callsPerLook?: number;
}

/**
 * Finds payouts that have landed and that the books do not know, as it is after a backup was restored: what they paid is still
 * booked as owed. Rejects with `chain_unavailable`, also while the history is not read to its end.
 * @returns those that were made since the oldest of what is owed; each look reads what is new since the last one
 */
export type UnknownPayouts = () => Promise<readonly LandedPayout[]>;

const CALLS = 2_000;
const AT_ONCE = 8;
const RETRY_SECONDS = 2;
/** Blocks tell their time to the second, by a clock of the cluster's own, and what is owed is noted by ours. */
const CLOCK_MS = 60_000;
/** Nodes behind one address are not equally far: so many slots are read again. */
const SLOTS_AGAIN = 150;

/** How far the history has been read: from the newest slot back to a time. */
interface Looked {
  readonly since: number;
  readonly slot: number;
}

/** A reading that is under way. */
interface Reading {
  readonly since: number;
  /** What lies before it has been read already. */
  readonly untilSlot: number;
  readonly newestSlot: number;
  readonly before: string | undefined;
}

/** Makes what finds them. What it has read it remembers. */
export function createUnknownPayouts(parts: UnknownPayoutsParts): UnknownPayouts {
  const reader = new HistoryReader(parts);
  // Who comes while a look is made waits for the next one, and shares it with all who wait.
  const grouped = inGroups<undefined, readonly LandedPayout[]>({
    run: async (all) => {
      const unknown = await reader.look();
      return all.map(() => unknown);
    },
    most: 1_000,
    isOfOne: () => false,
  });
  return () => grouped(undefined);
}

class HistoryReader {
  readonly #parts: UnknownPayoutsParts;
  readonly #found = new Map<string, LandedPayout>();
  #looked: Looked | undefined;
  #reading: Reading | undefined;

  constructor(parts: UnknownPayoutsParts) {
    this.#parts = parts;
  }

  async look(): Promise<readonly LandedPayout[]> {
    const { book, network, wallet } = this.#parts;
    const since = await book.owedSince(network, wallet);
    if (since === undefined) return [];
    await this.#read(since - CLOCK_MS);
    return this.#unknown();
  }

  async #read(since: number): Promise<void> {
    const { past, callsPerLook = CALLS } = this.#parts;
    let isResumed = this.#reading !== undefined;
    for (let calls = 0; ; ) {
      const at = this.#reading !== undefined && this.#reading.since <= since ? this.#reading : this.#begin(since);
      const page = await past.page(at.before);
      calls += 1 + (await this.#examine(page.traces));
      const newestSlot = at.before === undefined ? (page.newestSlot ?? 0) : at.newestSlot;
      const isOver = isLast(page, at);
      this.#reading = isOver ? undefined : { ...at, newestSlot, before: page.next };
      if (isOver) this.#looked = { since: at.since, slot: newestSlot };
      if (isOver && !isResumed) return;
      // What has come since an earlier look began to read is read by another reading.
      if (isOver) isResumed = false;
      if (calls >= callsPerLook) throw unfinished();
    }
  }

  #begin(since: number): Reading {
    const looked = this.#looked;
    const from = { newestSlot: 0, before: undefined };
    if (looked === undefined || looked.since > since) return { ...from, since, untilSlot: 0 };
    return { ...from, since: looked.since, untilSlot: looked.slot - SLOTS_AGAIN };
  }

  /** The books are asked after the chain: what is sent is in them before. Returns how many transactions were read. */
  async #examine(traces: readonly PayoutTrace[]): Promise<number> {
    const { book, past } = this.#parts;
    const known = await book.signaturesOf(traces.flatMap(({ id }) => id ?? []));
    const strange = traces.filter(
      ({ id, signature }) => !this.#found.has(signature) && (id === undefined || known.get(id) !== signature),
    );
    for (let at = 0; at < strange.length; at += AT_ONCE) {
      const lot = strange.slice(at, at + AT_ONCE);
      const landed = await Promise.all(lot.map(({ signature }) => past.landed(signature)));
      for (const it of landed) if (it !== undefined) this.#found.set(it.signature, it);
    }
    return strange.length;
  }

  async #unknown(): Promise<readonly LandedPayout[]> {
    const known = await this.#parts.book.signaturesOf([...this.#found.values()].map(({ id }) => id));
    for (const { id, signature } of this.#found.values()) {
      if (known.get(id) === signature) this.#found.delete(signature);
    }
    return [...this.#found.values()];
  }
}

/**
 * Who was paid of a token by payouts that the books do not know, although what was owed to him then is still booked as owed.
 * @param owedSince - of a recipient, milliseconds since the epoch; undefined when nothing is owed to him
 */
export function paidUnknown(
  unknown: readonly LandedPayout[],
  mint: string,
  owedSince: (recipient: string) => number | undefined,
): ReadonlySet<string> {
  const paid = new Set<string>();
  for (const payout of unknown.filter((it) => it.mint === mint)) {
    for (const { recipient } of payout.legs) {
      const since = owedSince(recipient);
      if (since !== undefined && since - CLOCK_MS <= (payout.blockTime ?? since)) paid.add(recipient);
    }
  }
  return paid;
}

function isLast({ next, oldestSlot = 0, oldestTime }: PayoutPage, { since, untilSlot }: Reading): boolean {
  return next === undefined || oldestSlot < untilSlot || (oldestTime !== undefined && oldestTime < since);
}

function unfinished(): TollhouseError {
  const detail =
    'The history of the split wallet is long, and not read to its end yet; no payout is made before it is.';
  return new TollhouseError('chain_unavailable', detail, { retryAfterSeconds: RETRY_SECONDS });
}
