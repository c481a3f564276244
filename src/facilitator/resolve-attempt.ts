import { randomUUID } from 'node:crypto';
import type { PaymentRecord, PaymentRequestRecord } from '../storage/ledger.js';
import { finishRequest, type RequestParts } from './request-terms.js';
import { outcomeOfSent } from './sent-payment.js';
import { writeDown } from './settle.js';

/**
 * Finds out what became of a transaction that was sent for a request and whose outcome nobody is waiting for any more, so
 * that a caller who went away does not keep the request pending for ever. One that is being waited for is left alone.
 */
export async function resolveAttempt(
  parts: RequestParts,
  request: PaymentRequestRecord,
  { id, binding, payer, terms, blockhash }: PaymentRecord,
): Promise<void> {
  const { ledger, leases } = parts;
  const lease = randomUUID();
  const { status, record } = await ledger.claim({
    id,
    binding,
    payer,
    terms,
    blockhash,
    lease,
    leaseMs: leases.leaseMs,
  });
  if (status !== 'won') return;
  try {
    const { state, signature } = record;
    if (state === 'broadcast' && signature !== undefined) {
      const settlement = await outcomeOfSent(parts, { record, signature, request, commitment: 'confirmed' });
      await writeDown({ ...parts, record, lease, resource: request.id }, settlement);
      if (settlement.status === 'settled') await finishRequest(parts, request, id, lease);
    }
  } finally {
    await ledger.release(id, lease);
  }
}
