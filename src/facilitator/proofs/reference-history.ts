import { LRUCache } from 'lru-cache';
import type { HistoryEntry } from '../../solana/rpc/landed-transaction.js';
import type { SolanaRpc } from '../../solana/rpc/rpc.js';
import type { PaymentRequestRecord } from '../../storage/ledger/payment-request.js';
import { online } from '../backend/chain-landing.js';

/** What is known of the transactions that name a reference. */
export interface ReferenceSearch {
  /** Signatures that are still to be looked at, the oldest first; whoever has looked takes them out. */
  waiting: string[];
  /** Whether the history was read back to the creation of the request. */
  isWhole: boolean;
}

/** Reads on in the history of a request's reference. Rejects with `payment_backend_unavailable` in an outage. */
export type ReferenceHistory = (request: PaymentRequestRecord) => Promise<ReferenceSearch>;

interface Remembered extends ReferenceSearch {
  /** The newest that were read: where the next look meets one of them, it knows the rest. */
  readonly seen: ReadonlySet<string>;
  /** The oldest that was read, while there is more before it. */
  readonly oldest: string | undefined;
}

/** What is read in one look: of a thousand transactions each, which somebody has paid 0.005 SOL for. */
const MAX_PAGES = 50;
/** Signatures that are remembered, of all requests together and of one. */
const MAX_REMEMBERED = 400_000;
const MAX_SEEN = 20_000;
/** Clocks differ: nothing that names a fresh key is older than its request by more. Milliseconds. */
const CLOCK_MS = 60_000;

/**
 * Makes a reader that remembers what it has read, and reads on where it stopped: however many transactions somebody hides a
 * payment behind, some look comes to it, and while the history is not whole no second payment is taken.
 */
export function createReferenceHistory(rpc: Pick<SolanaRpc, 'getHistory'>): ReferenceHistory {
  const searches = new LRUCache<string, Remembered>({
    maxSize: MAX_REMEMBERED,
    sizeCalculation: ({ seen, waiting }) => seen.size + waiting.length + 1,
  });

  return async (request) => {
    const before = searches.get(request.id) ?? NOTHING;
    const newest = await readBack(rpc, request, { seen: before.seen });
    const older = before.oldest !== undefined && newest.isOver ? await readBack(rpc, request, before) : undefined;
    // Two may have read at once.
    const known = searches.get(request.id) ?? NOTHING;
    const fresh = [...newest.entries].filter(({ signature }) => !known.seen.has(signature));
    const oldest = newest.isOver ? (older ?? { oldest: before.oldest }).oldest : newest.oldest;
    // Another object, or its size would not be counted again.
    const search = {
      waiting: [...landed(older?.entries ?? []), ...known.waiting, ...landed(fresh)],
      seen: new Set([...fresh.map(({ signature }) => signature), ...known.seen].slice(0, MAX_SEEN)),
      oldest,
      isWhole: oldest === undefined,
    };
    searches.set(request.id, search);
    return search;
  };
}

const NOTHING: Remembered = { waiting: [], seen: new Set(), oldest: undefined, isWhole: false };

/** Signatures of those that succeeded, the oldest first. */
function landed(entries: readonly HistoryEntry[]): readonly string[] {
  return entries
    .filter(({ failed }) => !failed)
    .map(({ signature }) => signature)
    .reverse();
}

interface ReadPart {
  /** The newest first. */
  readonly entries: readonly HistoryEntry[];
  /** Whether it came to what is known, or to the creation of the request. */
  readonly isOver: boolean;
  /** Where it stopped otherwise. */
  readonly oldest: string | undefined;
}

/** Reads from the newest on, or from what is older than `oldest`. */
async function readBack(
  rpc: Pick<SolanaRpc, 'getHistory'>,
  { reference, createdAt }: PaymentRequestRecord,
  from: { readonly seen: ReadonlySet<string>; readonly oldest?: string | undefined },
): Promise<ReadPart> {
  const entries: HistoryEntry[] = [];
  let { oldest } = from;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const more = await online(rpc.getHistory(reference, oldest));
    const last = more.at(-1);
    entries.push(...more);
    const isKnown = last === undefined || (from.oldest === undefined && from.seen.has(last.signature));
    if (isKnown || (last.blockTime ?? createdAt) < createdAt - CLOCK_MS)
      return { entries, isOver: true, oldest: undefined };
    oldest = last.signature;
  }
  return { entries, isOver: false, oldest };
}
