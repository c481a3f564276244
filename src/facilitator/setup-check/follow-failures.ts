import { TollhouseError } from '../../errors/errors.js';
import type { Reason } from '../../protocol/reasons.js';
import type { Verification } from '../../protocol/types.js';
import type { BackendSettlement, SettlementBackend } from '../backend/backend.js';
import type { PaymentService } from '../payments/payment-service.js';

/** Whom failures are told to. */
export interface FailureWatchers {
  /** The chain or what is needed to settle is out of reach: it must not be offered. */
  onOutage(): void;
  /** A recipient could be paid once, and cannot any more. */
  onRecipient(): void;
}

/** Reasons that are the seller's to mend. */
const OF_RECIPIENT: ReadonlySet<Reason> = new Set([
  'invalid_exact_svm_recipient_token_account_missing',
  'invalid_exact_svm_recipient_token_account_not_owned',
]);

/** A backend after whose failures something is looked at: a fee payer runs dry, or an account is closed, long after the first payment. */
export function followFailures(
  backend: SettlementBackend,
  { onOutage, onRecipient }: FailureWatchers,
): SettlementBackend {
  const looking = async <T extends Verification | BackendSettlement>(work: Promise<T>): Promise<T> => {
    const told = await tellingOf('payment_backend_unavailable', onOutage, work);
    if ('reason' in told && OF_RECIPIENT.has(told.reason)) onRecipient();
    return told;
  };
  return {
    ...backend,
    verify: (inspected, purpose) => looking(backend.verify(inspected, purpose)),
    settle: (inspected, step) => looking(backend.settle(inspected, step)),
  };
}

/**
 * Payments after which the store is looked at where it could not take one: its disk fills up long after the first payment, and what it
 * cannot take must not be offered.
 */
export function followStore(payments: PaymentService, onOutage: () => void): PaymentService {
  const looking = <T>(work: Promise<T>): Promise<T> => tellingOf('store_unavailable', onOutage, work);
  return {
    ...payments,
    openPayment: (payment, terms, use) => looking(payments.openPayment(payment, terms, use)),
    settle: (payment, terms, options) => looking(payments.settle(payment, terms, options)),
  };
}

async function tellingOf<T>(code: TollhouseError['code'], tell: () => void, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof TollhouseError && error.code === code) tell();
    throw error;
  }
}
