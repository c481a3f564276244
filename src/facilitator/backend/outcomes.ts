import { TollhouseError } from '../../errors/errors.js';
import { REASONS, type Reason } from '../../protocol/reasons.js';
import type { BackendSettlement } from './backend.js';

const OUTAGE_RETRY_SECONDS = 2;

/** The error for a fault on our side: nothing was charged, and the same payment can be sent again. */
export function unavailable(detail: string, cause?: unknown): TollhouseError {
  return new TollhouseError('payment_backend_unavailable', detail, { retryAfterSeconds: OUTAGE_RETRY_SECONDS, cause });
}

/** A failure that left no trace on the chain. */
export function unsent(reason: Reason, payer: string, message: string = REASONS[reason]): BackendSettlement {
  return { status: 'unsent', reason, message, payer };
}
