import { defined } from '../../lib/defined.js';
import { type EventRecord, newEvent } from '../events/events.js';
import type { PaidRefund } from './refund-store.js';

/** The event that tells of a refund that was paid. */
export function refundEvent(refund: PaidRefund, at: number): EventRecord {
  const { id, paymentId, recipient, owner, projectId, network, mint, amount, signed, slot } = refund;
  const data = {
    payment_id: paymentId,
    refund_id: id,
    payer: recipient,
    ...{ network, asset: mint },
    amount_atomic: String(amount),
    tx_signature: signed?.signature ?? null,
    slot: slot ?? null,
  };
  return newEvent({ type: 'payment.refunded', owner, ...defined({ projectId }), data }, at);
}
