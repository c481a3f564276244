import type { BackendSettlement } from '../backend/backend.js';
import type { PaymentEventBus } from '../events/events.js';
import type { SponsoredEnd, Sponsorship } from './sponsorship.js';

/** Learns outcomes that are found out elsewhere, as when what was left behind is looked after. */
export function followOutcomes(sponsorship: Sponsorship, events: Pick<PaymentEventBus, 'on'>): void {
  events.on('payment.settled', ({ id, receipt }) =>
    sponsorship.ended(id, receipt.payer, { status: 'landed', slot: receipt.slot }),
  );
  events.on('payment.expired', ({ id, payer }) => sponsorship.ended(id, payer, { status: 'expired' }));
  events.on('payment.failed', ({ id, payer, reason, terms }) => {
    // The other reasons are those of payments that were never sent.
    const isSponsored = terms.feePayer !== undefined;
    if (isSponsored && reason === 'invalid_exact_svm_transaction_failed')
      sponsorship.ended(id, payer, { status: 'failed' });
  });
}

/** What the end of a settlement means here; undefined while it is open. */
export function sponsoredEnd(settlement: BackendSettlement): SponsoredEnd | undefined {
  if (settlement.status === 'pending') return undefined;
  if (settlement.status === 'settled') return { status: 'landed', slot: settlement.receipt.slot };
  return { status: settlement.status === 'failed' ? settlement.final : 'unsent' };
}
