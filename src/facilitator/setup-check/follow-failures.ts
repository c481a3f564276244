import { TollhouseError } from '../../errors/errors.js';
import type { Reason } from '../../protocol/reasons.js';
import type { Verification } from '../../protocol/types.js';
import type { BackendSettlement, SettlementBackend } from '../backend/backend.js';

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
    try {
      const told = await work;
      if ('reason' in told && OF_RECIPIENT.has(told.reason)) onRecipient();
      return told;
    } catch (error) {
      if (error instanceof TollhouseError && error.code === 'payment_backend_unavailable') onOutage();
      throw error;
    }
  };
  return {
    ...backend,
    verify: (inspected, purpose) => looking(backend.verify(inspected, purpose)),
    settle: (inspected, step) => looking(backend.settle(inspected, step)),
  };
}
