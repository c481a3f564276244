import { TollhouseError } from '../../errors/errors.js';
import type { ClaimRequest, ClaimResult, Ledger } from '../../storage/ledger/ledger.js';
import { FINAL_STATES, lostClaim } from '../../storage/ledger/payment-use.js';
import type { Leases } from './leases.js';

/**
 * The verdict on a claim of a payment that this process is at work on: nobody else may have it then, though its lease seems
 * to have run out because the clock has jumped ahead. Where its response has left, it is waited for until that is written
 * down. Undefined for all other payments.
 */
export async function heldByThisProcess(
  { leases, ledger }: { readonly leases: Leases; readonly ledger: Pick<Ledger, 'find'> },
  request: Pick<ClaimRequest, 'id' | 'binding' | 'fingerprint' | 'retryHash'>,
): Promise<ClaimResult | undefined> {
  await leases.finishing(request.id);
  if (!leases.holds(request.id)) return undefined;
  const record = await ledger.find(request.id);
  return record === undefined || FINAL_STATES.has(record.state) ? undefined : lostClaim(record, request);
}

/**
 * The lease ran out and somebody else took the payment over: that one serves it, we do not.
 * @throws TollhouseError `payment_in_progress`
 */
export function mustHold(held: boolean): void {
  if (held) return;
  const detail = 'The payment was taken over by another request; ask again in a moment.';
  throw new TollhouseError('payment_in_progress', detail, { retryAfterSeconds: 1 });
}
