import { sendUndecided } from '../browser/waiting-page.js';
import { keepPrivate } from '../gate/cache-control.js';
import type { Refused } from '../gate/gate.js';
import { sendProblem } from '../gate/respond.js';
import { discardBody } from '../idempotency/request-fingerprint.js';
import { acceptable } from '../response/decoded-response.js';
import { type BufferEnd, sendStored } from '../response/response-buffer.js';
import { sendReplay } from '../response/response-recorder.js';
import type { StoredResponse } from '../response/response-seal.js';
import { noteOutcome } from '../tracing/gate-request.js';
import type { PaidRequest } from './payment-gate.js';
import { paidHeaders } from './payment-required.js';

const PENDING_RETRY_SECONDS = 2;

/** A request that is answered without being served. */
type Answered = Pick<PaidRequest, 'req' | 'res' | 'gate'>;

/** The decision to answer instead of serving a request; by default one that has brought a payment for this gate. */
export function refused(
  answer: Refused['answer'],
  { presented = true, isForOther = false }: Partial<Pick<Refused, 'presented' | 'isForOther'>> = {},
): Refused {
  return { admitted: false, wants: 'payment', presented, isForOther, answer };
}

/** Another request is being served for the payment. */
export function sendInProgress({ req, res, gate }: Answered): void {
  const detail = 'Another request is being served for this payment.';
  sendUndecided(req, res, gate.options, { code: 'payment_in_progress', detail, retryAfterSeconds: 1 });
}

/** The outcome is not known yet; `receipt` names the transaction. */
export function sendPending({ req, res, gate }: Answered, receipt: Readonly<Record<string, string>>): void {
  const detail =
    'The payment was sent and its outcome is not known yet. Send the same payment again to learn it; do not pay anew.';
  const retryAfterSeconds = PENDING_RETRY_SECONDS;
  sendUndecided(req, res, gate.options, { code: 'settlement_pending', detail, headers: receipt, retryAfterSeconds });
}

/** Sends a response that was kept, with the receipt of its payment. */
export async function sendAgain(
  { req, res, gate }: Answered,
  stored: StoredResponse,
  receipt: Readonly<Record<string, string>>,
): Promise<void> {
  noteOutcome(res, 'again');
  await discardBody(req);
  gate.beforeReplay?.(res);
  keepPrivate(res);
  const { headers, ...rest } = await acceptable(req, stored);
  sendReplay(res, { headers: paidHeaders(headers, receipt), ...rest });
}

/** What the handler made of a request that is not charged for: its error, or that nothing came in time or within bounds. */
export function sendUncharged({ res, gate }: PaidRequest, end: BufferEnd): void {
  const { handlerTimeoutMs, maxHeldBytes } = gate.options;
  noteOutcome(res, 'uncharged');
  if (end.why === 'ended') return sendStored(res, end.response);
  // The handler may still be at work. Whatever it does to this connection, the client comes again on another one.
  res.shouldKeepAlive = false;
  if (end.why === 'timeout') {
    const detail = `No answer came within ${handlerTimeoutMs} ms. Nothing was charged; the same payment can be sent again.`;
    return sendProblem(res, 'handler_timeout', detail);
  }
  if (end.why === 'too_large') {
    const detail = `The answer is larger than ${maxHeldBytes} bytes, so it cannot be held until it is paid; nothing was charged. Its seller can raise "maxHeldBytes" or use settle: "before".`;
    sendProblem(res, 'answer_too_large', detail);
  }
}
