import type { PaymentRecord } from '../../storage/ledger/ledger.js';
import type { PaymentRequestRecord } from '../../storage/ledger/payment-request.js';
import { isFromBackup } from '../payments/lost-period.js';
import { letGo } from '../payments/payment-claim.js';
import { writeDown } from '../payments/payment-life.js';
import { finishRequest, type RequestParts } from '../proofs/request-terms.js';
import { outcomeOfSent } from '../recovery/sent-payment.js';

/**
 * Finds out what became of a transaction that was sent for a request and whose outcome nobody is waiting for any more, so
 * that a caller who went away does not keep the request pending for ever. One that is being waited for is left alone.
 */
export async function resolveAttempt(
  parts: RequestParts,
  request: PaymentRequestRecord,
  attempt: PaymentRecord,
): Promise<void> {
  const { ledger, leases } = parts;
  const lease = ledger.newLease();
  const { id } = attempt;
  const { status, record } = await ledger.claim({ ...attempt, lease, leaseMs: leases.leaseMs });
  if (status !== 'won') return;
  try {
    const { state, signature } = record;
    if (state === 'broadcast' && signature !== undefined) {
      const settlement = await outcomeOfSent(parts, { record, signature, request, commitment: 'confirmed' });
      const served = isFromBackup(ledger, record);
      await writeDown({ ...parts, record, lease, resource: request.id, served }, settlement);
      if (settlement.status === 'settled') await finishRequest(parts, request, id, lease);
    }
  } finally {
    await letGo(ledger, record, lease);
  }
}
