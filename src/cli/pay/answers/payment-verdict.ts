import { ERRORS } from '../../../errors/errors.js';
import { readReceipt, readRefusal } from '../../../protocol/wire/client.js';
import { bodyText, problemField, type UrlResponse } from '../ask-url.js';

/** What a response proves of the payment. */
export type PaymentVerdict = 'paid' | 'refused' | 'open';

/** Reasons and codes with which a payment is refused that was taken before, or is on its way. */
const MAY_BE_TAKEN = new Set<unknown>([
  ...['duplicate_settlement', 'settlement_in_progress', 'settlement_pending'],
  ...['payment_already_used', 'payment_already_settled', 'payment_in_progress', 'payment_not_confirmed'],
]);
/** Reasons that say of a transaction that was sent that it moves nothing: ours, and the reference's. */
const MOVED_NOTHING = new Set<unknown>([
  ...['invalid_exact_svm_transaction_failed', 'invalid_exact_svm_transaction_expired', 'transaction_failed'],
]);
/** With these words the reference says that it does not know what came of a transaction, under the reason of one that failed. */
const UNCONFIRMED = /^settlement_pending\b/;
const OUR_TYPE = 'urn:tollhouse:error:';

/**
 * What a response proves: a receipt says it, as one does that names the transaction of a payment that was made before, and a refusal of
 * the first attempt that speaks of the payment. What is refused later may have been paid by an earlier attempt, and a response that
 * says nothing of the payment may be anybody's: of a proxy, or of a page to log in at a network.
 * @param doubts - how many attempts before may have paid
 */
export function verdictOf(response: UrlResponse, doubts: number): PaymentVerdict {
  const { success, errorReason, transaction } = readReceipt(response.header) ?? {};
  const isPaidBefore = errorReason === 'duplicate_settlement' && isNamed(transaction);
  if (success === true || isPaidBefore) return 'paid';
  return doubts === 0 && saysNotCharged(response) ? 'refused' : 'open';
}

/** When the pass ends that a payment would have prolonged too far, and that has let its request in instead; undefined where none has. */
export function coveredUntil({ status, header }: UrlResponse): string | undefined {
  return status < 400 && readReceipt(header) === undefined ? (header('access-pass-ends') ?? undefined) : undefined;
}

/** Whether a response is what was asked for: it is the seller's, and no refusal. */
export function isServed(response: UrlResponse, verdict: PaymentVerdict): boolean {
  return response.status < 400 && (verdict !== 'open' || coveredUntil(response) !== undefined);
}

function saysNotCharged(response: UrlResponse): boolean {
  const receipt = readReceipt(response.header);
  if (receipt !== undefined) return isFailure(receipt);
  return coveredUntil(response) !== undefined || isOurRefusal(response) || asksToPay(response);
}

function isFailure({ success, errorReason, errorMessage, transaction }: Readonly<Record<string, unknown>>): boolean {
  if (success !== false || UNCONFIRMED.test(String(errorMessage))) return false;
  return isNamed(transaction) ? MOVED_NOTHING.has(errorReason) : !MAY_BE_TAKEN.has(errorReason);
}

function isNamed(transaction: unknown): boolean {
  return typeof transaction === 'string' && transaction !== '';
}

/** A Tollhouse that refuses a request whose money has landed sends the receipt with it. */
function isOurRefusal(response: UrlResponse): boolean {
  const code = problemField(response, 'code');
  if (typeof code !== 'string' || !Object.hasOwn(ERRORS, code) || MAY_BE_TAKEN.has(code)) return false;
  const isRefused = response.status >= 400 && response.status < 500;
  return isRefused && problemField(response, 'type') === OUR_TYPE + code;
}

/** Sellers by x402 answer so to what they have not taken; what has failed once it was sent comes with its receipt. */
function asksToPay(response: UrlResponse): boolean {
  if (response.status !== 402) return false;
  const refusal = readRefusal(response.header, bodyText(response));
  return refusal !== undefined && !MAY_BE_TAKEN.has(refusal.error) && !MAY_BE_TAKEN.has(problemField(response, 'code'));
}
