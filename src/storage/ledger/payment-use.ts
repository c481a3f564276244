import type { ClaimResult, PaymentRecord, PaymentState } from './ledger.js';

/** What a payment is brought for, and by whom. */
export type Use = Pick<PaymentRecord, 'binding' | 'fingerprint' | 'retryHash'>;

/** Whether a payment may be brought for this use: what it was not bound to yet does not count. */
export function isSameUse(record: Use, use: Use): boolean {
  const { binding, fingerprint = use.fingerprint, retryHash = use.retryHash } = record;
  return binding === use.binding && fingerprint === use.fingerprint && retryHash === use.retryHash;
}

/** What a claim that was not won has found. */
export function lostClaim(record: PaymentRecord, use: Use): ClaimResult {
  if (!isSameUse(record, use)) return { status: 'foreign', record };
  return { status: FINAL_STATES.has(record.state) ? 'closed' : 'busy', record };
}

/** The states that nothing leads out of. */
export const FINAL_STATES: ReadonlySet<PaymentState> = new Set(['served', 'expired', 'failed']);

/** How many payments on their way are found at once that a wallet buys passes with. */
export const MOST_PURCHASES = 100;
