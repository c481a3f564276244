import { LRUCache } from 'lru-cache';
import type { HistoryEntry } from '../solana/landed-transaction.js';
import type { SolanaRpc } from '../solana/rpc.js';
import type { PaymentRequestRecord } from '../storage/payment-request.js';
import { online } from './chain-landing.js';

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
  readonly seen: Set<string>;
}

/**
 * Of a thousand transactions each. Whoever hides a payment behind more of them pays 0.25 SOL for each payment request, and
 * wins nothing by it: while the history is not whole no second payment is taken.
 */
const MAX_PAGES = 50;
/** Signatures that are remembered, of all requests together: what was read once is not read again. */
const MAX_REMEMBERED = 200_000;
/** Clocks differ: nothing that names a fresh key is older than its request by more. Milliseconds. */
const CLOCK_MS = 60_000;

/** Makes a reader that remembers what it has read. */
export function createReferenceHistory(rpc: Pick<SolanaRpc, 'getHistory'>): ReferenceHistory {
  const searches = new LRUCache<string, Remembered>({
    maxSize: MAX_REMEMBERED,
    sizeCalculation: ({ seen }) => seen.size + 1,
  });

  return async (request) => {
    const { fresh, isWhole } = await readBack(rpc, request, searches.get(request.id)?.seen ?? new Set());
    // Two may have read at once.
    const known = searches.get(request.id) ?? { waiting: [], seen: new Set<string>(), isWhole: false };
    const added = fresh.filter(({ signature }) => !known.seen.has(signature));
    for (const { signature } of added) known.seen.add(signature);
    const landed = added.filter(({ failed }) => !failed).map(({ signature }) => signature);
    // Another object, or its size would not be counted again.
    const search = { ...known, waiting: [...known.waiting, ...landed], isWhole: known.isWhole || isWhole };
    searches.set(request.id, search);
    return search;
  };
}

/** What is new since the last time, the oldest first. */
async function readBack(
  rpc: Pick<SolanaRpc, 'getHistory'>,
  { reference, createdAt }: PaymentRequestRecord,
  seen: ReadonlySet<string>,
): Promise<{ readonly fresh: readonly HistoryEntry[]; readonly isWhole: boolean }> {
  const fresh = new Map<string, HistoryEntry>();
  let before: string | undefined;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const entries = await online(rpc.getHistory(reference, before));
    const last = entries.at(-1);
    const isOver = last === undefined || seen.has(last.signature) || fresh.has(last.signature);
    for (const entry of entries) if (!seen.has(entry.signature)) fresh.set(entry.signature, entry);
    if (isOver || (last.blockTime ?? createdAt) < createdAt - CLOCK_MS) {
      return { fresh: [...fresh.values()].reverse(), isWhole: true };
    }
    before = last.signature;
  }
  return { fresh: [...fresh.values()].reverse(), isWhole: false };
}
