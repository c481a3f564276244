import { defined } from '../../lib/defined.js';
import { termsFingerprint } from '../../protocol/match-terms.js';
import type { Terms } from '../../protocol/types.js';
import type { PaymentRecord } from '../../storage/ledger/ledger.js';
import { atHost } from '../../storage/ledger/payment-use.js';
import type { PaymentUse } from '../types.js';

/** What a payment is bound to: one resource, on these terms. */
export function bindingOf(resource: string, terms: Terms): string {
  return `${resource}|${termsFingerprint(terms)}`;
}

/** What a payment was for: the resource in its binding. */
export function resourceOf({ binding, terms }: PaymentRecord): string {
  return binding.slice(0, -bindingOf('', terms).length);
}

type BoundBy = Pick<PaymentUse, 'fingerprint' | 'host' | 'retryHash' | 'admitted' | 'buys'>;

/** To which request and whose secret a use binds its payment, whom gates let in with it, and the pass that it buys. */
export function boundBy({ fingerprint, host, retryHash, admitted, buys }: BoundBy) {
  const isAtHost = fingerprint !== undefined && host !== undefined;
  return defined({ fingerprint: isAtHost ? atHost(fingerprint, host) : fingerprint, retryHash, admitted, buys });
}
