import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { TollhouseError } from '../../errors/errors.js';
import { withAmountJson } from '../../protocol/money/amount-json.js';
import type { NetworkId } from '../../protocol/types.js';
import type { Ledger, PaymentRecord } from '../../storage/ledger/ledger.js';
import type { Pass, PassStore } from '../../storage/passes/pass-store.js';
import type { NewRefund, PaidRefund, RefundRecord, RefundStore } from '../../storage/payouts/refund-store.js';
import type { PaymentEventBus } from '../events/events.js';
import { type Memory, memoryOf } from '../payments/lost-period.js';
import type { PayoutSender } from '../payouts/payout-sender.js';
import type { Refund } from '../types.js';
import { createLostRefunds } from './lost-refunds.js';
import { nothingLeft, whyNothingIsLeft } from './nothing-left.js';
import { paidBeyond } from './paid-beyond.js';
import { findUnbooked, refundIdOf, type UnbookedRefund } from './past-refunds.js';
import { createRefundHistories } from './refund-history.js';
import type { RefundBounds } from './refund-options.js';
import { advanceRefund, bookPastRefund, REFUND_LEASE_MS, type RefundWorkParts } from './refund-work.js';

/** Pays back on the chain what payers are left with. */
export interface Refunds {
  /** See `Facilitator.refund`. */
  refund(paymentId: string): Promise<Refund>;
  /** Goes on with refunds that were begun and left alone, and looks for those that restored books have lost. Rejects with `store_unavailable`, or when the chain cannot be asked. */
  goOn(): Promise<void>;
  /** Whether those that restored books have lost are booked. */
  isFound(): boolean;
}

/** What {@link createRefunds} works with. */
export interface RefundParts extends Memory {
  readonly network: NetworkId;
  readonly ledger: Pick<Ledger, 'find'>;
  readonly passes: Pick<PassStore, 'find' | 'findByPayment' | 'debit'>;
  readonly book: RefundStore;
  readonly sender: Pick<PayoutSender, 'mayPay' | 'prepare' | 'send' | 'resume' | 'past' | 'wallet'>;
  readonly bounds: RefundBounds;
  readonly events: Pick<PaymentEventBus, 'emit'>;
  /** Clock, milliseconds since the epoch. */
  readonly now: () => number;
}

const DAY_MS = 86_400_000;
const AT_ONCE = 20;
const RETRY_SECONDS = 2;
/** How long somebody else's work on a refund is waited for: mostly it takes a second or two. */
const FOLLOW_MS = 30_000;
const LOOK_AGAIN_MS = 200;

/** Makes what pays back what payers are left with. */
export function createRefunds(parts: RefundParts): Refunds {
  const { network, book, passes, sender, events, now } = parts;
  const work: RefundWorkParts = {
    book,
    ledger: parts.ledger,
    passes,
    sender,
    historyOf: createRefundHistories(sender),
    now,
    onPaid: (refund) => tell(events, refund),
  };
  const lost = createLostRefunds({ ...work, network, wallet: sender.wallet, memory: memoryOf(parts) });
  return {
    isFound: lost.isFound,
    async refund(paymentId) {
      await sender.mayPay();
      const underWay = await openOf(parts, paymentId);
      if (underWay !== undefined) return viewOf(await followed(parts, underWay));
      const wanted = await whatIsLeft(parts, paymentId);
      if ('state' in wanted) return viewOf(await followed(parts, wanted));
      const lease = randomUUID();
      const past = await pastOf(work, wanted);
      if (past !== undefined) {
        await bookPastRefund(work, wanted, past);
        return viewOf(await mustFind(parts, past.landed.id));
      }
      if (!(await book.plan(wanted, await boundOf(parts, wanted), lease, REFUND_LEASE_MS))) {
        return viewOf(await followed(parts, await whyNot(parts, wanted)));
      }
      const planned = await book.find(wanted.id);
      if (planned !== undefined) await advanceRefund(work, planned, lease, { past });
      return viewOf(await mustFind(parts, wanted.id));
    },
    async goOn() {
      await lost.find();
      const lease = randomUUID();
      const left = await book.take(network, lease, REFUND_LEASE_MS, AT_ONCE);
      const done = await Promise.allSettled(left.map((it) => advanceRefund(work, it, lease)));
      const failed = done.find((it) => it.status === 'rejected');
      if (failed !== undefined) throw failed.reason;
    },
  };
}

/**
 * All that is left of the pass of a payment: of credit the amount, of uses the whole price as long as none was used; or the refund that
 * has taken it meanwhile.
 */
async function whatIsLeft(parts: RefundParts, paymentId: string): Promise<NewRefund | RefundRecord> {
  const { network, ledger, passes, sender } = parts;
  const payment = await ledger.find(paymentId);
  if (payment === undefined) throw new TollhouseError('payment_not_found', `There is no payment ${paymentId}.`);
  if (payment.terms.network !== network) {
    const detail = `The payment ${paymentId} is on ${payment.terms.network}; its refund is for the facilitator there.`;
    throw new TollhouseError('payment_not_found', detail);
  }
  if (payment.state !== 'confirmed' && payment.state !== 'served') throw nothingLeft(`it is ${payment.state}`);
  // Its owner keeps what was paid, and would have the refund wallet pay himself.
  if (payment.projectId !== undefined) throw nothingLeft('it was paid to a project, whose owner has the money');
  const pass = await passes.findByPayment(paymentId);
  if (pass === undefined) throw nothingLeft('it has left its payer no credit');
  const refunds = await parts.book.ofPayment(paymentId);
  const worth = worthOf(payment, pass, refunds);
  if ('used' in worth) {
    const other = await openOf(parts, paymentId);
    if (other !== undefined) return other;
    throw await whyNothingIsLeft(parts, payment, pass, worth.used);
  }
  const { payer: recipient, owner = payment.terms.payTo } = payment;
  return {
    id: refundIdOf(paymentId, refunds.length),
    ...{ paymentId, passId: pass.id, network, wallet: sender.wallet, recipient, owner, mint: payment.terms.asset },
    ...worth,
  };
}

/** A refund of the payment that the chain has and the books do not: a backup was restored since. */
async function pastOf(parts: RefundWorkParts, wanted: NewRefund): Promise<UnbookedRefund | undefined> {
  const payment = await parts.ledger.find(wanted.paymentId);
  const past = await findUnbooked(parts, wanted, payment?.claimedAt ?? 0);
  if (past?.kind !== 'other') return past;
  const { signature } = past.landed;
  throw nothingLeft(
    `the refund wallet has paid its payer by the transaction ${signature}, which the books do not know: look whether it was for this payment`,
  );
}

/** What of a pass can be refunded, or a sentence for what of it was used. */
function worthOf(
  { terms }: PaymentRecord,
  { kind, left = 0n, bought, over }: Pass,
  refunds: readonly RefundRecord[],
): Pick<NewRefund, 'amount' | 'taken'> | { readonly used: string } {
  if (over === 'used_up') return { used: 'its pass is used up' };
  if (over !== undefined) throw nothingLeft(`its pass is ${over}`);
  if (kind === 'credit') {
    const amount = left - paidBeyond(refunds);
    return amount > 0n ? { amount, taken: left } : { used: 'what is left was paid back by an earlier refund' };
  }
  if (kind === 'until') throw nothingLeft('it has bought a time, which is not paid back');
  if (refunds.some(({ state }) => state === 'paid')) return { used: 'it was paid back' };
  if (left === bought) return { amount: terms.amount, taken: left };
  return { used: `${left} of ${bought} uses are left of its pass, and only an untouched one is paid back` };
}

/** A refund that somebody else is at work on, as it is when that is over; as it stands, where that takes too long. */
async function followed({ book }: RefundParts, refund: RefundRecord): Promise<RefundRecord> {
  const until = performance.now() + FOLLOW_MS;
  let seen = refund;
  while (isOpen(seen) && performance.now() < until) {
    await pause(LOOK_AGAIN_MS);
    seen = (await book.find(refund.id)) ?? seen;
  }
  return seen;
}

async function boundOf({ bounds, now }: RefundParts, { mint, amount }: NewRefund) {
  const [most, perDay] = [bounds.max.get(mint), bounds.maxPerDay.get(mint)];
  if (most === undefined || perDay === undefined) {
    throw beyond(
      `Refunds in the token ${mint} have no bound: name it in "max" and "maxPerDay" of the option "refunds".`,
    );
  }
  if (amount <= most) return { amount: perDay, since: now() - DAY_MS };
  throw beyond(
    `${amount} atomic units are left, and one refund pays ${most} at most: raise "max" of the option "refunds".`,
  );
}

/** Somebody else has begun it, or too much was refunded. */
async function whyNot(parts: RefundParts, { paymentId, network, mint, amount }: NewRefund): Promise<RefundRecord> {
  const other = await openOf(parts, paymentId);
  if (other !== undefined) return other;
  const most = parts.bounds.maxPerDay.get(mint) ?? 0n;
  const sum = await parts.book.sumSince(network, mint, parts.now() - DAY_MS);
  if (sum + amount > most) {
    const detail = `${sum} atomic units were refunded within 24 hours, and ${most} are the most, with these ${amount}: come again later, or raise "maxPerDay" of the option "refunds".`;
    throw beyond(detail);
  }
  const detail = 'Another refund of this payment was under way; try again.';
  throw new TollhouseError('payment_in_progress', detail, { retryAfterSeconds: RETRY_SECONDS });
}

async function openOf({ book }: RefundParts, paymentId: string): Promise<RefundRecord | undefined> {
  return (await book.ofPayment(paymentId)).find(isOpen);
}

function isOpen({ state }: Pick<RefundRecord, 'state'>): boolean {
  return state !== 'paid' && state !== 'failed';
}

async function mustFind({ book }: RefundParts, id: string): Promise<RefundRecord> {
  const refund = await book.find(id);
  if (refund === undefined) throw new Error(`the refund ${id} was forgotten while it was made`);
  return refund;
}

function viewOf(refund: RefundRecord): Refund {
  const { id, paymentId, recipient, mint, amount, state, reason, slot, createdAt, signed } = refund;
  return withAmountJson({
    ...{ id, paymentId, recipient, mint, amount, state, createdAt },
    ...(reason === undefined ? {} : { reason }),
    ...(slot === undefined ? {} : { slot }),
    ...(signed === undefined ? {} : { signature: signed.signature }),
  });
}

function tell(events: Pick<PaymentEventBus, 'emit'>, refund: PaidRefund): void {
  const { id: refundId, paymentId: id, recipient: payer, mint: asset, amount, signed, slot = 0 } = refund;
  const signature = signed?.signature ?? '';
  events.emit('payment.refunded', withAmountJson({ id, refundId, payer, asset, amount, signature, slot }));
}

function beyond(detail: string): TollhouseError {
  return new TollhouseError('refund_limit_reached', detail);
}
