import { failedLegOf, type PayoutOutcome } from '../../facilitator/payouts/payout-fate.js';
import type { PayoutSender } from '../../facilitator/payouts/payout-sender.js';
import { defined } from '../../lib/defined.js';
import type { PayoutFailure, PayoutRecord, PayoutStore } from '../../storage/payouts/payout-store.js';
import type { PayoutMinimums } from './payout-minimum.js';
import { paidUnknown, type UnknownPayouts } from './unknown-payouts.js';

/** What payouts are made with. */
export interface PayoutWorkParts extends PayoutMinimums {
  readonly book: PayoutStore;
  readonly sender: PayoutSender;
  /** Of a split wallet. */
  unknown(wallet: string): ReturnType<UnknownPayouts>;
  /** Clock, milliseconds since the epoch. */
  readonly now: () => number;
}

/** What is needed to write down what became of a payout. */
export interface ConcludingParts extends Pick<PayoutWorkParts, 'book' | 'now'> {
  readonly sender: Pick<PayoutSender, 'balance'>;
}

/** Longer than a payout can take: looking, signing, sending and waiting. */
export const PAYOUT_LEASE_MS = 120_000;
/** How long what cannot be paid is left alone, unless somebody asks for it. */
export const HOLD_MS = 3_600_000;
const RETRY_MS = 5_000;
/** How long a payout is left alone of which those who are asked cannot say any more whether it has landed. */
const FORGOTTEN_MS = 600_000;

/**
 * Brings a payout as far as it goes, each step written down before the next begins: looked at, signed, recorded, sent, and
 * what became of it. One that was recorded before is never signed again: the chain is asked, and the same bytes are sent. What
 * is not known yet is given back, and found again by whoever takes it next.
 * @param lease - under which it was taken
 * @returns whether there is a new payout now, of those whom the fault of one recipient would have kept waiting
 */
export async function advancePayout(parts: PayoutWorkParts, payout: PayoutRecord, lease: string): Promise<boolean> {
  const { book, sender } = parts;
  if (payout.signed !== undefined) {
    return concludePayout(parts, payout, lease, await sender.resume(payout.signed));
  }
  if (!sender.wallets.includes(payout.wallet)) return fail(parts, payout, lease, { reason: 'split_wallet_replaced' });
  // What landed before it was planned was looked at then; a backup may be of the moment after.
  const [recipient] = paidUnknown(await parts.unknown(payout.wallet), payout.mint, (it) =>
    payout.legs.some((leg) => leg.recipient === it) ? payout.createdAt : undefined,
  );
  if (recipient !== undefined) return fail(parts, payout, lease, { reason: 'unknown_payout', recipient });
  const prepared = await sender.prepare(payout);
  if (!prepared.ok) {
    const { reason, recipient } = prepared;
    return fail(parts, payout, lease, { reason, ...defined({ recipient }) });
  }
  // Whoever has taken it over meanwhile signs it; ours is forgotten, and never left this process.
  if (!(await book.recordSigned(payout.id, lease, prepared.signed))) return false;
  const { signed } = prepared;
  return concludePayout(parts, { ...payout, signed }, lease, await sender.send(signed));
}

/** Gives a payout back after a fault, to be tried again in a moment. What was known of it stays known. */
export async function givePayoutBack(
  { book, now }: Pick<PayoutWorkParts, 'book' | 'now'>,
  { id, reason }: PayoutRecord,
  lease: string,
): Promise<void> {
  await book.release(id, lease, now() + RETRY_MS, reason);
}

/**
 * Writes down what became of a payout that was signed. It fails, and is owed again, only when it provably never lands; where
 * nobody can say so it stays sent.
 * @returns whether there is a new payout now, as {@link advancePayout}
 */
export async function concludePayout(
  parts: ConcludingParts,
  payout: PayoutRecord,
  lease: string,
  outcome: PayoutOutcome,
): Promise<boolean> {
  const { book, now } = parts;
  const { id, legs, signed } = payout;
  const signature = signed?.signature ?? '';
  if (outcome.status === 'paid') {
    await book.recordPaid(id, lease, outcome.slot);
    return false;
  }
  if (outcome.status === 'failed') {
    const recipient = failedLegOf(outcome.err, legs)?.recipient;
    const who = defined({ recipient });
    return fail(parts, payout, lease, { reason: 'failed_on_chain', signature, ...who });
  }
  if (outcome.status === 'unknown' && !outcome.isForgotten) {
    await givePayoutBack(parts, payout, lease);
    return false;
  }
  if (outcome.status === 'unknown' || (await hasMoneyLeft(parts, payout))) {
    await book.release(id, lease, now() + FORGOTTEN_MS, 'outcome_unknown');
    return false;
  }
  return fail(parts, payout, lease, { reason: 'expired', signature, heldUntil: now() });
}

/** A node may not know that it has forgotten: then it is the money that tells. */
async function hasMoneyLeft(
  { book, sender }: ConcludingParts,
  { network, wallet, mint }: PayoutRecord,
): Promise<boolean> {
  const [held, due] = await Promise.all([sender.balance(wallet, mint), book.due(network, wallet, mint)]);
  return held < due;
}

/** The others of a payout that one recipient stands in the way of are paid by a new one, at once. */
async function fail(
  { book, now }: ConcludingParts,
  payout: PayoutRecord,
  lease: string,
  failure: Omit<PayoutFailure, 'heldUntil'> & Partial<PayoutFailure>,
): Promise<boolean> {
  const isFailed = await book.recordFailed(payout.id, lease, { heldUntil: now() + HOLD_MS, ...failure });
  if (!isFailed || failure.recipient === undefined) return false;
  const others = payout.legs.map(({ recipient }) => recipient).filter((it) => it !== failure.recipient);
  return others.length > 0 && (await book.plan(payout, others)) !== undefined;
}
