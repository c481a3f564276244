import type { PayoutOutcome, PayoutSender } from '../facilitator/payout-sender.js';
import type { PayoutBook, PayoutFailure, PayoutRecord, SignedPayout } from '../storage/payout-book.js';

/** What payouts are made with. */
export interface PayoutWorkParts {
  readonly book: PayoutBook;
  readonly sender: PayoutSender;
  /** Clock, milliseconds since the epoch. */
  readonly now: () => number;
}

/** Longer than a payout can take: looking, signing, sending and waiting. */
export const PAYOUT_LEASE_MS = 120_000;
/** How long what cannot be paid is left alone, unless somebody asks for it. */
export const HOLD_MS = 3_600_000;
const RETRY_MS = 5_000;
/**
 * Nodes forget. A payout that nobody has looked after for longer than this may have landed although a node knows nothing of
 * it, and is never called expired.
 */
const MEMORY_OF_NODES_MS = 12 * 3_600_000;

/**
 * Brings a payout as far as it goes, each step written down before the next begins: looked at, signed, recorded, sent, and
 * what became of it. One that was recorded before is never signed again: the chain is asked, and the same bytes are sent. What
 * is not known yet is given back, and found again by whoever takes it next.
 * @param lease - under which it was taken
 */
export async function advancePayout(parts: PayoutWorkParts, payout: PayoutRecord, lease: string): Promise<void> {
  const { book, sender, now } = parts;
  if (payout.signed !== undefined) {
    return conclude(parts, payout, lease, payout.signed, await sender.resume(payout.signed));
  }
  if (payout.wallet !== sender.wallet) return fail(parts, payout, lease, { reason: 'split_wallet_replaced' });
  const prepared = await sender.prepare(payout);
  if (!prepared.ok) {
    const { reason, recipient } = prepared;
    return fail(parts, payout, lease, { reason, ...(recipient === undefined ? {} : { recipient }) });
  }
  const signedAt = now();
  // Whoever has taken it over meanwhile signs it; ours is forgotten, and never left this process.
  if (!(await book.recordSigned(payout.id, lease, prepared.signed))) return;
  await conclude(parts, { ...payout, signedAt }, lease, prepared.signed, await sender.send(prepared.signed));
}

/** Gives a payout back after a fault, to be tried again in a moment. */
export async function givePayoutBack({ book, now }: PayoutWorkParts, id: string, lease: string): Promise<void> {
  await book.release(id, lease, now() + RETRY_MS);
}

async function conclude(
  parts: PayoutWorkParts,
  payout: PayoutRecord,
  lease: string,
  { signature }: SignedPayout,
  outcome: PayoutOutcome,
): Promise<void> {
  const { book, now } = parts;
  if (outcome.status === 'paid') return void (await book.recordPaid(payout.id, lease, outcome.slot));
  if (outcome.status === 'failed') return fail(parts, payout, lease, { reason: 'failed_on_chain', signature });
  if (outcome.status === 'unknown') return givePayoutBack(parts, payout.id, lease);
  if (now() - (payout.signedAt ?? 0) > MEMORY_OF_NODES_MS) {
    return void (await book.release(payout.id, lease, now() + HOLD_MS, 'outcome_unknown'));
  }
  await fail(parts, payout, lease, { reason: 'expired', signature, heldUntil: now() });
}

async function fail(
  { book, now }: PayoutWorkParts,
  { id }: PayoutRecord,
  lease: string,
  failure: Omit<PayoutFailure, 'heldUntil'> & Partial<PayoutFailure>,
): Promise<void> {
  await book.recordFailed(id, lease, { heldUntil: now() + HOLD_MS, ...failure });
}
