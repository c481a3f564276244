import { hash } from 'node:crypto';
import type { PaymentRecord } from '../../storage/ledger/ledger.js';

/** An address is no secret: what is bound to one can be asked for again for so long only. Milliseconds. */
const BY_ADDRESS_MS = 600_000;
const BY_ADDRESS = 'address ';

/** What shows that a request comes from the one who paid. */
export type RetryProof = { readonly secret: string } | { readonly address: string };

/** The digest of a proof, by which a payment is bound to the one who brought it first. */
export function retryHashOf(proof: RetryProof): string {
  if ('secret' in proof) return digest(proof.secret);
  return `${BY_ADDRESS}${digest(proof.address)}`;
}

/** Whether a digest of {@link retryHashOf} is of an address. */
export function isByIpAddress(retryHash: string | undefined): boolean {
  return retryHash?.startsWith(BY_ADDRESS) === true;
}

/** Whether it is too late to come again for a payment. One that was never sent may be brought at any time. */
export function isTooLateToRetry(
  { retryHash, state, claimedAt }: Pick<PaymentRecord, 'retryHash' | 'state' | 'claimedAt'>,
  now: number,
): boolean {
  return state !== 'claimed' && isByIpAddress(retryHash) && claimedAt + BY_ADDRESS_MS < now;
}

/** The same for one that was sent at a time, and is not written down as that. */
export function tooLateSince(now: () => number) {
  return (payment: Pick<PaymentRecord, 'retryHash'>, claimedAt: number): boolean =>
    isTooLateToRetry({ ...payment, state: 'broadcast', claimedAt }, now());
}

function digest(text: string): string {
  return hash('sha256', text, 'base64url');
}
