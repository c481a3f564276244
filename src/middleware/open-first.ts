import type { Request } from 'express';
import type { OpenedPayment, PaymentUse } from '../facilitator/types.js';
import type { Reason } from '../protocol/reasons.js';
import type { Payment, Terms } from '../protocol/types.js';
import type { ResolvedPaymentOptions } from './payment-options.js';

/** How long others leave a payment to this process after the handler's deadline and the settlement's: time for a slow store. */
const LEASE_MARGIN_MS = 30_000;

/** What a payment on a request is for. */
export type UseOf = (req: Request) => Pick<PaymentUse, 'resource' | 'seller'>;

const resourceUse: UseOf = (req) => ({ resource: `${req.method} ${req.baseUrl}${req.path}` });

/** Refusals which say that the payment is for other terms, the farthest from a match first. */
const FOR_OTHER_TERMS: readonly Reason[] = [
  'invalid_exact_svm_fee_payer_mismatch',
  'invalid_exact_svm_payload_mint_mismatch',
  'invalid_exact_svm_payload_recipient_mismatch',
  'invalid_exact_svm_payload_amount_mismatch',
];

/**
 * Opens the payment for the first terms that it is good for. Protocol versions that name theirs have one candidate; a
 * payment of another version is refused for what is wrong with it under the terms that it comes nearest to.
 */
export async function openFirst(
  options: ResolvedPaymentOptions,
  req: Request,
  payment: Payment,
  candidates: readonly Terms[],
  useOf: UseOf = resourceUse,
): Promise<OpenedPayment | undefined> {
  const { facilitator, commitment, settle } = options;
  const use = { ...useOf(req), commitment, simulate: settle === 'after' };
  let nearest: OpenedPayment | undefined;
  for (const terms of candidates) {
    const opened = await facilitator.openPayment(payment, terms, use);
    const nearness = nearnessOf(opened);
    if (nearness === FOR_OTHER_TERMS.length) return opened;
    if (nearest === undefined || nearness > nearnessOf(nearest)) nearest = opened;
  }
  return nearest;
}

/** How long a request may hold its payment, in milliseconds. */
export function leaseOf({ handlerTimeoutMs, maxTimeoutSeconds }: ResolvedPaymentOptions): number {
  return handlerTimeoutMs + maxTimeoutSeconds * 1000 + LEASE_MARGIN_MS;
}

function nearnessOf(opened: OpenedPayment): number {
  const index = opened.status === 'refused' ? FOR_OTHER_TERMS.indexOf(opened.refusal.reason) : -1;
  return index === -1 ? FOR_OTHER_TERMS.length : index;
}
