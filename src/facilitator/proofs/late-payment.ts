import type { Reason } from '../../protocol/reasons.js';
import type { LandedTransaction } from '../../solana/rpc/landed-transaction.js';
import type { PaymentRecord } from '../../storage/ledger/ledger.js';
import type { PaymentRequestRecord } from '../../storage/ledger/payment-request.js';
import { outcomeEvent } from '../events/event-records.js';
import { bindingOf, resourceOf } from '../payments/payment-binding.js';
import { letGo } from '../payments/payment-claim.js';
import { receiptOf } from '../payments/receipt.js';
import { type RequestParts, requestTerms, sellerOf } from './request-terms.js';

/**
 * How long after the end of its time a payment request can still be paid: as long as a transaction that was signed in the
 * last second can land, which is the life of its blockhash. Milliseconds.
 */
export const LANDING_GRACE_MS = 90_000;

/** Why such a payment buys nothing. */
const LATE: Reason = 'invalid_transfer_late';

/** A transaction that does all that a payment request asks for, and who paid. */
export interface FoundPayment {
  readonly signature: string;
  readonly landed: LandedTransaction;
  readonly payer: string;
  /** In what it was paid: native or wrapped SOL, where SOL was asked for. */
  readonly asset: string;
}

/**
 * Whether a transaction landed when the time of the request that it pays was over. Where the node does not tell when it
 * landed, it is in time while that is certain.
 */
export function isLate(
  { expiresAt }: Pick<PaymentRequestRecord, 'expiresAt'>,
  { blockTime }: Pick<LandedTransaction, 'blockTime'>,
  now: number,
): boolean {
  return (blockTime ?? now) > expiresAt + LANDING_GRACE_MS;
}

/** Whether a payment is booked as having come too late for a request: the money has landed, and buys nothing. */
export function isBookedLate(record: PaymentRecord, { id }: Pick<PaymentRequestRecord, 'id'>): boolean {
  return receiptOf(record) !== undefined && resourceOf(record) === lateResource(id);
}

/**
 * Books money that came too late for its request: it has landed and nothing is owed for it, the request names it and stays
 * expired, and its seller is told by `payment.expired`. `open` while somebody else holds it, or another payment of the request
 * is on its way; `dismissed` where it has bought something else.
 */
export async function bookLate(
  parts: RequestParts,
  request: PaymentRequestRecord,
  { signature, landed, payer, asset }: FoundPayment,
): Promise<{ readonly status: 'late'; readonly id: string; readonly signature: string } | 'open' | 'dismissed'> {
  const { ledger, leases, events, policy, now } = parts;
  const { messageHash: id, blockhash, slot } = landed;
  const resource = lateResource(request.id);
  const terms = requestTerms(request, landed, policy, asset);
  const lease = ledger.newLease();
  const held = { lease, leaseMs: leases.leaseMs };
  const claim = { id, binding: bindingOf(resource, terms), payer, terms, blockhash, ...held, ...sellerOf(request) };
  const claimed = await ledger.claim(claim);
  const late = { status: 'late', id, signature } as const;
  if (claimed.status === 'closed') return late;
  if (claimed.status !== 'won') return receiptOf(claimed.record) === undefined ? 'open' : 'dismissed';
  if ((await ledger.attachAttempt(request.id, id)) !== id) {
    await letGo(ledger, claimed.record, lease);
    return 'open';
  }
  const { network, payTo, amount } = terms;
  const receipt = { signature, network, payer, payTo, asset, amount, slot };
  const told = { id, resource: request.id, payer, terms, receipt, reason: LATE };
  const event = outcomeEvent('payment.expired', told, claim, now());
  if (!(await ledger.recordOutcome(id, lease, { state: 'served', slot, signature }, [event]))) return 'open';
  events.emit('payment.expired', told);
  return late;
}

function lateResource(requestId: string): string {
  return `late ${requestId}`;
}
