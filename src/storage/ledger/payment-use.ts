import { hash } from 'node:crypto';
import type { ClaimResult, PaymentRecord, PaymentState } from './ledger.js';

/** What a payment is brought for, and by whom. */
export type Use = Pick<PaymentRecord, 'binding' | 'fingerprint' | 'retryHash'>;

/** Stands between what names a request and what names the host that was asked. */
const AT = '@';

/** A fingerprint of a request at one host alone. */
export function atHost(fingerprint: string, host: string): string {
  return `${fingerprint}${AT}${hash('sha256', host)}`;
}

/** What names the request in a fingerprint, whichever host was asked. */
export function withoutHost(fingerprint: string): string {
  return fingerprint.split(AT, 1)[0] ?? fingerprint;
}

/** Whether a payment may be brought for this use: what it was not bound to yet does not count. */
export function isSameUse(record: Use, use: Use): boolean {
  const { binding, fingerprint = use.fingerprint, retryHash = use.retryHash } = record;
  return binding === use.binding && isSameRequest(fingerprint, use.fingerprint) && retryHash === use.retryHash;
}

/** What was bound before December 2026 names no host. */
function isSameRequest(bound: string | undefined, brought: string | undefined): boolean {
  return bound === brought || (brought !== undefined && bound === withoutHost(brought));
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
