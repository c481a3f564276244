import type { HistoryEntry } from '../solana/landed-transaction.js';
import type { SolanaRpc } from '../solana/rpc.js';
import { MAX_HISTORY_PER_CALL } from '../solana/rpc-client.js';
import type { BookedPayment, PaymentReader } from '../storage/payment-reader.js';
import { type BookCheckParts, checkBooked } from './check-booked.js';
import { patiently } from './patiently.js';

/** What reconciling needs. */
export interface ReconcileParts extends Omit<BookCheckParts, 'rpc'> {
  readonly rpc: Pick<SolanaRpc, 'getSignatureStatuses' | 'getTransaction' | 'getHistory'>;
  readonly reader: PaymentReader;
  /** Keys that pay network fees, base58: every transaction that they have paid for is to be in the books. */
  readonly feePayers: readonly string[];
  /** Clock, milliseconds since the epoch. */
  readonly now: () => number;
}

/** Learns what reconciling finds, while it finds it. */
export interface ReconcileListener {
  /** A payment that is not over in the books; no difference. */
  onOpen(payment: BookedPayment, detail: string): void;
  /** Books and chain differ. `payment` is missing where the books do not know the transaction. */
  onDifference(signature: string, detail: string, payment?: BookedPayment): void;
  /** How far it is. */
  onProgress(text: string): void;
}

/** How many there were. */
export interface Reconciliation {
  readonly payments: number;
  readonly transactions: number;
  readonly open: number;
  readonly differences: number;
}

/** A payment is claimed before it lands, and at most so much earlier. */
const MARGIN_MS = 600_000;
/** Blocks tell their time to the second, by a clock of the cluster's own. */
const BLOCK_CLOCK_MS = 10_000;
/**
 * Enough of a signature to know it again: 70 bits. Twelve characters are copied; more would keep the whole text, and those of
 * a million payments must have room.
 */
const KEY_LENGTH = 12;

/**
 * Compares the books with the chain, in both directions: every payment in the books against its transaction, and every
 * transaction of the fee payers that succeeded against the books, payouts included.
 * @param from - milliseconds since the epoch; default: since the first payment in the books
 * @throws RpcError or `store_unavailable` when it cannot be finished
 */
export async function reconcile(
  parts: ReconcileParts,
  from: number | undefined,
  listener: ReconcileListener,
): Promise<Reconciliation> {
  const startedAt = parts.now();
  const books = await checkBooks(parts, from, listener);
  const unknown: string[] = [];
  let transactions = 0;
  for (const feePayer of parts.feePayers) {
    for await (const page of historyOf(parts, feePayer, (from ?? books.since) - BLOCK_CLOCK_MS)) {
      transactions += page.length;
      listener.onProgress(`${transactions} transactions`);
      const strange = page.filter(({ signature, failed }) => !failed && !books.known.has(keyOf(signature)));
      unknown.push(...(await paidForBy(parts, feePayer, strange)));
    }
  }
  const late = await keysSince(parts, startedAt - MARGIN_MS);
  const unbooked = unknown.filter((signature) => !late.has(keyOf(signature)));
  for (const signature of unbooked) listener.onDifference(signature, 'paid for by us, and not in the books');
  const { payments, open, differences } = books;
  return { payments, transactions, open, differences: differences + unbooked.length };
}

async function checkBooks(parts: ReconcileParts, from: number | undefined, listener: ReconcileListener) {
  const known = await payoutKeys(parts);
  const found = { payments: 0, open: 0, differences: 0, since: 0 };
  for await (const page of parts.reader.pages({ from: from === undefined ? 0 : from - MARGIN_MS })) {
    if (found.payments === 0) found.since = page[0]?.claimedAt ?? 0;
    found.payments += page.length;
    for (const { signature } of page) if (signature !== undefined) known.add(keyOf(signature));
    for (const check of await checkBooked(parts, page)) {
      const { payment } = check;
      if (check.verdict === 'open') {
        found.open += 1;
        listener.onOpen(payment, check.detail);
      } else if (check.verdict === 'wrong') {
        found.differences += 1;
        listener.onDifference(payment.signature ?? '', check.detail, payment);
      }
    }
    listener.onProgress(`${found.payments} payments`);
  }
  return { ...found, known };
}

/** The history of an address since a time, the newest first. */
async function* historyOf(
  { rpc }: ReconcileParts,
  address: string,
  since: number,
): AsyncGenerator<readonly HistoryEntry[]> {
  let before: string | undefined;
  for (;;) {
    const last = before;
    const page = await patiently(() => rpc.getHistory(address, last));
    const fresh = page.filter(({ blockTime }) => blockTime === undefined || blockTime >= since);
    yield fresh;
    if (page.length < MAX_HISTORY_PER_CALL || fresh.length < page.length) return;
    before = page.at(-1)?.signature;
  }
}

/** A key is also named where somebody sends it SOL: those do not belong into the books. */
async function paidForBy(
  { rpc }: ReconcileParts,
  feePayer: string,
  entries: readonly HistoryEntry[],
): Promise<readonly string[]> {
  const found: string[] = [];
  for (const { signature } of entries) {
    const landed = await patiently(() => rpc.getTransaction(signature, 'confirmed'));
    if (landed === null || landed.accounts[0] === feePayer) found.push(signature);
  }
  return found;
}

/** What was booked while the chain was being read. */
async function keysSince({ reader }: ReconcileParts, from: number): Promise<ReadonlySet<string>> {
  const keys = await payoutKeys({ reader });
  for await (const page of reader.pages({ from })) {
    for (const { signature } of page) if (signature !== undefined) keys.add(keyOf(signature));
  }
  return keys;
}

async function payoutKeys({ reader }: Pick<ReconcileParts, 'reader'>): Promise<Set<string>> {
  const keys = new Set<string>();
  for await (const signatures of reader.payoutSignatures()) {
    for (const signature of signatures) keys.add(keyOf(signature));
  }
  return keys;
}

function keyOf(signature: string): string {
  return signature.slice(0, KEY_LENGTH);
}
