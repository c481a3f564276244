import { createHash } from 'node:crypto';
import bs58 from 'bs58';
import { TollhouseError } from '../../errors/errors.js';
import type { LandedPayout } from '../../storage/payouts/payout-store.js';
import { MOST_REFUNDS, type NewRefund, type RefundStore } from '../../storage/payouts/refund-store.js';
import type { PayoutSender } from '../payouts/payout-sender.js';

/** What looking for refunds on the chain needs. */
export interface PastRefundParts {
  readonly book: Pick<RefundStore, 'find'>;
  readonly sender: Pick<PayoutSender, 'past'>;
}

/**
 * What the chain knows of refunds to a payer that the books do not: `same`, one of this very payment; `other`, one that does not say of
 * which payment it is, as those that earlier versions made.
 */
export type UnbookedRefund = { readonly kind: 'same' | 'other'; readonly landed: LandedPayout };

/** What the ids of refunds begin with. */
export const REFUND_PREFIX = 'rfd_';
/** Ids that name their payment are longer than those that were drawn by lot, which had 16 bytes. */
const ID_BYTES = 20;
/** Blocks tell their time by a clock of the cluster's own. */
const CLOCK_MS = 60_000;
const MAX_PAGES = 200;
const RETRY_SECONDS = 10;

/** The id of a refund of a payment, the first one being 0: whoever finds it on the chain, as its memo, knows what it has refunded. */
export function refundIdOf(paymentId: string, count: number): string {
  const digest = createHash('sha256').update(`refund ${paymentId} ${count}`).digest();
  return `${REFUND_PREFIX}${bs58.encode(digest.subarray(0, ID_BYTES))}`;
}

/**
 * Looks into the history of the refund wallet for a refund to a payer that the books do not know: it was made after a backup that was
 * restored since, or by another program. Costs one call as a rule. Rejects with `chain_unavailable`.
 * @param since - when the payment was made, milliseconds since the epoch
 */
export async function findUnbooked(
  { book, sender }: PastRefundParts,
  { paymentId, wallet, recipient, mint }: Pick<NewRefund, 'paymentId' | 'wallet' | 'recipient' | 'mint'>,
  since: number,
): Promise<UnbookedRefund | undefined> {
  const own = new Set(Array.from({ length: MOST_REFUNDS }, (_, count) => refundIdOf(paymentId, count)));
  const past = sender.past(wallet, REFUND_PREFIX);
  let other: UnbookedRefund | undefined;
  let before: string | undefined;
  for (let pages = 0; pages < MAX_PAGES; pages += 1) {
    const { traces, oldestTime, next } = await past.page(before);
    for (const { signature, id } of traces) {
      const isElsewhere = id !== undefined && !own.has(id) && namesPayment(id);
      if (isElsewhere || (id !== undefined && (await isBooked(book, id, signature)))) continue;
      const landed = await past.landed(signature);
      if (landed?.mint !== mint || !landed.legs.some((leg) => leg.recipient === recipient)) continue;
      if (own.has(landed.id)) return { kind: 'same', landed };
      if (!namesPayment(landed.id) && !(await isBooked(book, landed.id, signature))) other = { kind: 'other', landed };
    }
    if (next === undefined || (oldestTime !== undefined && oldestTime < since - CLOCK_MS)) return other;
    before = next;
  }
  const detail = 'The history of the refund wallet is too long to be read; nothing is refunded before it is.';
  throw new TollhouseError('chain_unavailable', detail, { retryAfterSeconds: RETRY_SECONDS });
}

function namesPayment(id: string): boolean {
  return bs58.decodeUnsafe(id.slice(REFUND_PREFIX.length))?.length === ID_BYTES;
}

/** Whether a refund is in the books with the very transaction that has paid it. */
export async function isBooked(book: PastRefundParts['book'], id: string, signature: string): Promise<boolean> {
  return (await book.find(id))?.signed?.signature === signature;
}
