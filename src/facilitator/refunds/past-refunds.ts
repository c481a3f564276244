import { createHash } from 'node:crypto';
import bs58 from 'bs58';
import { TollhouseError } from '../../errors/errors.js';
import type { LandedPayout, SignedPayout } from '../../storage/payouts/payout-store.js';
import { MOST_REFUNDS, type NewRefund, type RefundStore } from '../../storage/payouts/refund-store.js';
import type { PayoutTrace } from '../payouts/past-payouts.js';
import { REFUND_PREFIX, type RefundHistory } from './refund-history.js';

/** What looking for refunds on the chain needs. */
export interface PastRefundParts {
  readonly book: Pick<RefundStore, 'find'>;
  /** Of a wallet, base58. */
  readonly historyOf: (wallet: string) => RefundHistory;
}

/**
 * What the chain knows of refunds to a payer that the books do not: `same`, one of this very payment; `other`, one that does not say of
 * which payment it is, as those that earlier versions made.
 */
export type UnbookedRefund = { readonly kind: 'same' | 'other'; readonly landed: LandedPayout };

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

/** The ids that the refunds of a payment can have. */
export function refundIdsOf(paymentId: string): ReadonlySet<string> {
  return new Set(Array.from({ length: MOST_REFUNDS }, (_, count) => refundIdOf(paymentId, count)));
}

/**
 * Looks into the history of the refund wallet for a refund to a payer that the books do not know: it was made after a backup that was
 * restored since, or by another program. Costs one call as a rule. Rejects with `chain_unavailable`.
 * @param since - when the payment was made, milliseconds since the epoch
 */
export async function findUnbooked(
  { book, historyOf }: PastRefundParts,
  { paymentId, wallet, recipient, mint }: Pick<NewRefund, 'paymentId' | 'wallet' | 'recipient' | 'mint'>,
  since: number,
): Promise<UnbookedRefund | undefined> {
  const own = refundIdsOf(paymentId);
  const history = historyOf(wallet);
  let other: UnbookedRefund | undefined;
  let before: string | undefined;
  for (let pages = 0; pages < MAX_PAGES; pages += 1) {
    const { traces, oldestTime, next } = await history.page(before);
    const asked = traces.filter(({ id }) => id === undefined || own.has(id) || !namesPayment(id));
    for (const landed of await history.refundsAmong(await unbookedOf(book, asked))) {
      if (landed.mint !== mint || !landed.legs.some((leg) => leg.recipient === recipient)) continue;
      const kind = own.has(landed.id) ? 'same' : 'other';
      if (kind === 'other' && namesPayment(landed.id)) continue;
      if (await isBooked(book, landed.id, landed.signature)) continue;
      if (kind === 'same') return { kind, landed };
      other = { kind, landed };
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

/** Signatures of what the books do not have by the id that its memo tells. */
export async function unbookedOf(
  book: PastRefundParts['book'],
  traces: readonly PayoutTrace[],
): Promise<readonly string[]> {
  const unbooked: string[] = [];
  for (const { id, signature } of traces) {
    if (id === undefined || !(await isBooked(book, id, signature))) unbooked.push(signature);
  }
  return unbooked;
}

/** Whether a refund is in the books with the very transaction that has paid it. */
export async function isBooked(book: PastRefundParts['book'], id: string, signature: string): Promise<boolean> {
  return (await book.find(id))?.signed?.signature === signature;
}

/** What is known of the transaction of a refund that somebody else has sent: its bytes are on the chain. */
export function signedOnChain({ signature, blockhash, slot }: LandedPayout): SignedPayout {
  return { signature, transaction: new Uint8Array(), blockhash, lastValidBlockHeight: 0, signedSlot: slot };
}

/** What the transaction has paid to a recipient, atomic units. */
export function paidTo(recipient: string, { legs }: Pick<LandedPayout, 'legs'>): bigint {
  return legs.find((leg) => leg.recipient === recipient)?.amount ?? 0n;
}
