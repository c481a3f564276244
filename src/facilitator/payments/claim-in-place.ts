import type { InspectedPayment } from '../backend/backend.js';
import type { OpenedPayment, PaymentUse } from '../types.js';
import { claimPayment, type PaymentServiceParts } from './payment-life.js';

/**
 * Claims a payment in a place among those in flight, which it has to its outcome; one that may have been sent finds a place always.
 * @throws TollhouseError `too_many_payments`; nothing is claimed then
 */
export async function claimInPlace(
  parts: PaymentServiceParts,
  inspected: InspectedPayment,
  use: PaymentUse,
): Promise<OpenedPayment> {
  const { inFlight, leases, ledger } = parts;
  const { payer, transaction } = inspected;
  const leave = await inFlight.enter(payer, async () => {
    const { state = 'claimed' } = (await ledger.find(transaction.messageHash)) ?? {};
    return state !== 'claimed' || leases.holds(transaction.messageHash);
  });
  try {
    const opened = await claimPayment(parts, inspected, use, leave);
    // Of what is only owed the outcome is known.
    if (opened.status !== 'open' || opened.claim.receipt !== undefined) leave();
    return opened;
  } catch (error) {
    leave();
    throw error;
  }
}
