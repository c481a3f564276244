import type { Ledger } from '../../storage/ledger/ledger.js';
import type { PassStore } from '../../storage/passes/pass-store.js';
import type {
  NewRefund,
  PaidRefund,
  RefundFault,
  RefundRecord,
  RefundStore,
} from '../../storage/payouts/refund-store.js';
import type { PayoutOutcome } from '../payouts/payout-fate.js';
import type { PayoutSender, UnsentReason } from '../payouts/payout-sender.js';
import { wasPaidBefore } from './paid-beyond.js';
import { findUnbooked, type PastRefundParts, paidTo, signedOnChain, type UnbookedRefund } from './past-refunds.js';

/** What refunds are made with. */
export interface RefundWorkParts extends Pick<PastRefundParts, 'historyOf'> {
  readonly book: RefundStore;
  readonly passes: Pick<PassStore, 'debit' | 'find'>;
  readonly sender: Pick<PayoutSender, 'mayPay' | 'prepare' | 'send' | 'resume'>;
  readonly ledger: Pick<Ledger, 'find'>;
  /** Told when one has landed. */
  readonly onPaid: (refund: PaidRefund) => void;
  /** Clock, milliseconds since the epoch. */
  readonly now: () => number;
}

/** What the chain has of a refund that the books do not. */
export interface Looked {
  readonly past: UnbookedRefund | undefined;
}

/** Longer than a refund can take: looking, signing, sending and waiting. */
export const REFUND_LEASE_MS = 120_000;
const RETRY_MS = 5_000;
/** How long a refund is left alone of which those who are asked cannot say any more whether it has landed. */
const FORGOTTEN_MS = 600_000;

/**
 * Brings a refund as far as it goes, each step written down before the next begins: its credit is taken, its transaction signed,
 * recorded, sent, and what became of it. One that was recorded before is not signed again unless what was signed can provably never land:
 * the chain is asked, and the same bytes are sent. What is not known yet is given back, and found again by whoever takes it next.
 * @param lease - under which it was taken
 * @param looked - what the chain has of it, where that was asked just now
 */
export async function advanceRefund(
  parts: RefundWorkParts,
  refund: RefundRecord,
  lease: string,
  looked?: Looked,
): Promise<void> {
  const { book, now } = parts;
  try {
    await advance(parts, refund, lease, looked);
  } catch (error) {
    await book.release(refund.id, lease, now() + RETRY_MS).catch(() => false);
    throw error;
  }
}

async function advance(
  parts: RefundWorkParts,
  refund: RefundRecord,
  lease: string,
  looked: Looked | undefined,
): Promise<void> {
  const { book, sender } = parts;
  const { id, signed } = refund;
  if (signed !== undefined) return conclude(parts, refund, lease, await sender.resume(signed));
  await sender.mayPay();
  // First: what was paid is booked, whatever is left of the credit.
  const { past } = looked ?? { past: await unbooked(parts, refund) };
  if (past?.kind === 'other') return void (await book.recordFailed(id, lease, 'unknown_refund'));
  if (past !== undefined) return bookPastRefund(parts, refund, past);
  if (await wasPaidBefore(parts, refund)) return void (await book.recordFailed(id, lease, 'credit_used'));
  const fault = refund.state === 'planned' ? await takeCredit(parts, refund, lease) : undefined;
  if (fault !== undefined) return void (await book.recordFailed(id, lease, fault));
  const { wallet, mint, recipient, amount } = refund;
  const prepared = await sender.prepare({ id, wallet, mint, legs: [{ recipient, amount }], total: amount });
  if (!prepared.ok) return void (await book.recordFailed(id, lease, faultOf(prepared.reason)));
  // Whoever has taken it over meanwhile signs it; ours is forgotten, and never left this process.
  if (!(await book.recordSigned(id, lease, prepared.signed))) return;
  await conclude(parts, { ...refund, signed: prepared.signed }, lease, await sender.send(prepared.signed));
}

/** What the chain has of it although it was never signed, as far as these books know. */
async function unbooked(parts: RefundWorkParts, refund: RefundRecord): Promise<UnbookedRefund | undefined> {
  const payment = await parts.ledger.find(refund.paymentId);
  return findUnbooked(parts, refund, payment?.claimedAt ?? 0);
}

/**
 * Writes down what the chain has and the books do not, under the id that it landed with, however much of it was thought to be left.
 * @param refund - of the payment; what it takes of the pass, at most
 */
export async function bookPastRefund(
  { book, onPaid }: Pick<RefundWorkParts, 'book' | 'onPaid'>,
  refund: NewRefund,
  { landed }: UnbookedRefund,
): Promise<void> {
  const { id, slot } = landed;
  const [paid, signed] = [{ ...refund, id, amount: paidTo(refund.recipient, landed) }, signedOnChain(landed)];
  if (await book.bookLanded(paid, signed, slot)) onPaid({ ...paid, signed, slot });
}

function faultOf(reason: UnsentReason): RefundFault {
  if (reason === 'split_wallet_short') return 'refund_wallet_short';
  return reason === 'split_wallet_replaced' ? 'refund_wallet_replaced' : reason;
}

/** Under the name of the refund: taken once, however often it is begun. */
async function takeCredit(
  { book, passes }: RefundWorkParts,
  { id: requestId, passId, taken: amount }: RefundRecord,
  lease: string,
): Promise<RefundFault | undefined> {
  const taken = await passes.debit({ passId, requestId, amount });
  if (!taken.ok) return 'credit_used';
  await book.recordTaken(requestId, lease);
  return undefined;
}

/** It fails, and its credit is given back, only when it provably never lands; where nobody can say so it stays sent. */
async function conclude(
  { book, onPaid, now }: RefundWorkParts,
  refund: RefundRecord,
  lease: string,
  outcome: PayoutOutcome,
): Promise<void> {
  const { id } = refund;
  switch (outcome.status) {
    case 'paid': {
      const { slot } = outcome;
      if (await book.recordPaid(id, lease, slot)) onPaid({ ...refund, slot });
      return;
    }
    case 'failed':
      return void (await book.recordFailed(id, lease, 'failed_on_chain'));
    case 'expired':
      // Its payer is still to be paid, and no two of its transactions can land.
      if (await book.recordExpired(id, lease)) await book.release(id, lease, now());
      return;
    case 'unknown': {
      const [restMs, reason] = outcome.isForgotten
        ? ([FORGOTTEN_MS, 'outcome_unknown'] as const)
        : ([RETRY_MS] as const);
      await book.release(id, lease, now() + restMs, reason);
    }
  }
}
