import type { SolanaRpc } from '../../solana/rpc/rpc.js';
import type { BookReaders } from '../../storage/books/book-readers.js';
import type { BookedPayment } from '../../storage/books/payment-reader.js';
import { DAY_MS, dayOf } from '../../storage/calls/periods.js';
import { bookLost, type LostLedger } from './book-lost.js';
import { type BookCheckParts, checkBooked } from './check-booked.js';
import { checkFigures } from './check-figures.js';
import { accountsMade, readFeePayer, unbooked } from './check-history.js';
import { checkOwed } from './check-owed.js';
import { checkPasses, type PassCheckParts } from './check-passes.js';
import { checkPayouts } from './check-payouts.js';
import { readRefundWallets, type TakenRefund } from './check-refund-wallet.js';
import { checkRefunds } from './check-refunds.js';
import { checkRequests } from './check-requests.js';
import { checkBalances, readSplitWallets } from './check-split-wallet.js';
import { checkTold } from './check-told.js';
import { type Finding, type Findings, keyOf } from './finding.js';

/** What reconciling needs. */
export interface ReconcileParts extends Omit<BookCheckParts, 'rpc'>, BookReaders, Pick<PassCheckParts, 'opensIn'> {
  readonly rpc: Pick<SolanaRpc, 'getSignatureStatuses' | 'getTransaction' | 'getHistory' | 'getTokenAccountsByOwner'>;
  /** Keys that pay network fees, base58: every transaction that they have paid for is to be in the books. */
  readonly feePayers: readonly string[];
  /** Where payments are booked, as used, that landed in a time that the books have lost. Default: they are told as differences. */
  readonly booksLostIn?: LostLedger;
  /** Split wallets of the service, base58; those that the books name are looked at as well. Default: none. */
  readonly splitWallets?: readonly string[];
  /** Wallets that pay refunds, base58; those that the books name are looked at as well. Default: none. */
  readonly refundWallets?: readonly string[];
  /** Between two looks at what seems to be missing, in milliseconds. Default 1,000. */
  readonly betweenLooksMs?: number;
  /** How long the books of the money are kept, in milliseconds. Default 400 days. */
  readonly booksKeptMs?: number;
  /** How long events are kept, in milliseconds. Default 30 days. */
  readonly eventsKeptMs?: number;
  /** How long it is remembered what requests took from passes, in milliseconds. Default a day. */
  readonly debitsKeptMs?: number;
  /** Clock, milliseconds since the epoch. */
  readonly now: () => number;
}

/** Learns what reconciling finds, while it finds it. */
export interface ReconcileListener {
  /** A payment that is not over in the books; no difference. */
  onOpen(payment: BookedPayment, detail: string): void;
  /** Something that is worth a look, and no difference. */
  onNote(finding: Finding): void;
  /** Books and chain differ, or two of the books. */
  onDifference(finding: Finding): void;
  /** How far it is. */
  onProgress(text: string): void;
}

/** How many there were. */
export interface Reconciliation {
  readonly payments: number;
  readonly payouts: number;
  readonly refunds: number;
  readonly transactions: number;
  readonly open: number;
  readonly differences: number;
}

/** A payment is claimed before it lands, and at most so much earlier. */
const MARGIN_MS = 600_000;
/** Blocks tell their time to the second, by a clock of the cluster's own. */
const BLOCK_CLOCK_MS = 10_000;
const BOOKS_KEPT_MS = 400 * DAY_MS;
const EVENTS_KEPT_MS = 30 * DAY_MS;
const DEBITS_KEPT_MS = DAY_MS;

/**
 * Compares the books with the chain, in both directions, and with each other: payments, payment requests, payouts and
 * refunds against their transactions, the transactions of the fee payers, split and refund wallets against the books, what split wallets hold
 * against what is owed, and what is owed, passes, events, charges, credit and sums against the payments.
 * @param from - milliseconds since the epoch; default: since the first payment in the books
 * @throws RpcError or `store_unavailable` when it cannot be finished
 */
export async function reconcile(
  parts: ReconcileParts,
  from: number | undefined,
  listener: ReconcileListener,
): Promise<Reconciliation> {
  const startedAt = parts.now();
  const found = countingFindings(listener);
  const books = await checkPayments(parts, from, listener, found);
  const { known, payments, open, doubted } = books;
  const since = (from ?? books.since) - BLOCK_CLOCK_MS;
  // What was paid back is known before anything is opened for it.
  const refunded = await readRefundWallets({ refundWallets: [], ...parts }, { since, known });
  const paidBack = new Set([...refunded.values()].flatMap(({ refundId = [] }) => refundId));
  const { payouts, refunds } = await checkBooks({ ...parts, doubted, paidBack }, from, found);
  const { transactions, strange, noted } = await readChain(parts, { since, known }, refunded, listener);
  const late = await keysSince(parts, startedAt - MARGIN_MS);
  for (const [signature, finding] of strange) {
    if (!late.has(keyOf(signature))) found.differs(finding);
  }
  for (const [signature, finding] of noted) {
    if (!late.has(keyOf(signature))) found.notes(finding);
  }
  return { payments, payouts, refunds, transactions, open, differences: found.count() };
}

function countingFindings(listener: ReconcileListener): Findings & { count(): number } {
  let count = 0;
  return {
    differs(finding) {
      count += 1;
      listener.onDifference(finding);
    },
    notes: (finding) => listener.onNote(finding),
    count: () => count,
  };
}

async function checkPayments(
  parts: ReconcileParts,
  from: number | undefined,
  listener: ReconcileListener,
  findings: Findings,
) {
  const known = await payoutKeys(parts);
  const found = { payments: 0, open: 0, since: 0 };
  const doubted = new Set<string>();
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
        const { detail, advice } = check;
        doubted.add(payment.id);
        const ids = payment.signature === undefined ? [payment.id] : [payment.id, payment.signature];
        findings.differs({ kind: 'payment', ids, detail, advice });
      }
    }
    listener.onProgress(`${found.payments} payments`);
  }
  return { ...found, known, doubted };
}

/** All but the payments themselves. Returns how many payouts and refunds there were. */
async function checkBooks(
  parts: ReconcileParts & Pick<PassCheckParts, 'doubted' | 'paidBack'>,
  from: number | undefined,
  findings: Findings,
): Promise<{ readonly payouts: number; readonly refunds: number }> {
  const { amounts, booksKeptMs = BOOKS_KEPT_MS, eventsKeptMs = EVENTS_KEPT_MS } = parts;
  const { debitsKeptMs = DEBITS_KEPT_MS } = parts;
  const time = parts.now();
  const kept = (keptMs: number): number => Math.max(0, time - keptMs + MARGIN_MS);
  const since = Math.max(from ?? 0, kept(booksKeptMs));
  if (amounts) await checkRequests({ ...parts, from: from ?? 0 }, findings);
  await checkOwed({ splitWallets: [], ...parts, from: since }, findings);
  const payouts = await checkPayouts({ ...parts, from: from ?? 0 }, findings);
  const debitsFrom = kept(debitsKeptMs);
  const refunds = await checkRefunds({ ...parts, from: from ?? 0, debitsFrom }, findings);
  await checkBalances({ splitWallets: [], ...parts }, findings);
  await checkPasses({ ...parts, from: from ?? 0, booksFrom: since, debitsFrom }, findings);
  await checkTold({ ...parts, from: Math.max(since, kept(eventsKeptMs)) }, findings);
  // Sums are by day: of the first one that is not wholly kept nothing can be said.
  const firstDay = dayOf(kept(booksKeptMs) + DAY_MS - 1);
  await checkFigures({ ...parts, from: Math.max(dayOf(from ?? 0), firstDay) }, findings);
  return { payouts, refunds };
}

/** Transactions of ours that the books do not know, with what is to be said of them; `noted` are those that are no difference. */
async function readChain(
  parts: ReconcileParts,
  books: { readonly since: number; readonly known: ReadonlySet<string> },
  refunded: ReadonlyMap<string, TakenRefund>,
  listener: ReconcileListener,
) {
  const strange = new Map<string, Finding>();
  let transactions = 0;
  for (const feePayer of parts.feePayers) {
    const { unknown, creations } = await readFeePayer(parts, feePayer, books, (count) => {
      transactions += count;
      listener.onProgress(`${transactions} transactions`);
    });
    if (creations.length > 0) listener.onNote(accountsMade(feePayer, creations));
    for (const signature of unknown) {
      const booked = parts.booksLostIn && (await bookLost(parts, parts.booksLostIn, signature));
      if (booked === undefined) strange.set(signature, unbooked(signature));
      else listener.onNote(booked);
    }
  }
  // What it takes out of a split wallet is worth more than who has paid the fee for it.
  const taken = await readSplitWallets({ splitWallets: [], ...parts }, books);
  for (const [signature, finding] of taken) strange.set(signature, finding);
  const noted = new Map<string, Finding>();
  for (const [signature, { finding, refundId }] of refunded) {
    if (refundId !== undefined) strange.set(signature, finding);
    else if (!strange.has(signature)) noted.set(signature, finding);
  }
  return { transactions, strange, noted };
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
