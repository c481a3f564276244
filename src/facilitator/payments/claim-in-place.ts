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
  const { payer, transaction } = inspected;
  // What settles at once is simulated by its node as it is sent: then the slots that it waits for would count as well.
  const isChecked = use.simulate !== false;
  const place = await parts.inFlight.enter({ payer, client: use.client }, () => isDue(parts, transaction.messageHash));
  try {
    const opened = await claimPayment(parts, inspected, use, place.leave);
    if (isChecked && (opened.status === 'refused' || isNew(opened))) place.checked();
    // Of what is only owed the outcome is known.
    if (opened.status !== 'open' || opened.claim.receipt !== undefined) place.leave();
    return opened;
  } catch (error) {
    if (isChecked) place.checked();
    place.leave();
    throw error;
  }
}

/** Whether the money of a payment may have moved already, or it is held here. */
export async function isDue({ leases, ledger }: PaymentServiceParts, messageHash: string): Promise<boolean> {
  const { state = 'claimed' } = (await ledger.find(messageHash)) ?? {};
  return state !== 'claimed' || leases.holds(messageHash);
}

/** What was brought before may have been settled to its end by now. */
function isNew(opened: OpenedPayment): boolean {
  return opened.status === 'open' && !opened.claim.resumed && opened.claim.receipt === undefined;
}
