import { TollhouseError } from '../../errors/errors.js';
import type { PaymentRecord } from '../../storage/ledger/ledger.js';
import type { Pass, PassStore } from '../../storage/passes/pass-store.js';
import type { RefundRecord, RefundStore } from '../../storage/payouts/refund-store.js';

/** For so long after it was taken for a request it may yet be given back: handlers are over by then, but for long streams. */
const IN_USE_MS = 60_000;
const RETRY_SECONDS = 10;

/** Why nothing of a payment can be refunded. */
export function nothingLeft(why: string): TollhouseError {
  return new TollhouseError('nothing_to_refund', `Nothing of the payment can be refunded: ${why}.`);
}

/** What is asked where nothing is left of a pass. */
export interface NothingLeftParts {
  readonly book: Pick<RefundStore, 'ofPayment' | 'isHeld'>;
  readonly passes: Pick<PassStore, 'find'>;
  /** Clock, milliseconds since the epoch. */
  readonly now: () => number;
}

/**
 * Why nothing is left of the pass of a payment, or too little: it was refunded, or requests hold it that may yet fail, or else it was used.
 * @param pass - as it was seen
 * @param used - a sentence for what was used
 */
export async function whyNothingIsLeft(
  parts: NothingLeftParts,
  payment: Pick<PaymentRecord, 'id' | 'state'>,
  pass: Pick<Pass, 'id' | 'left'>,
  used: string,
): Promise<TollhouseError> {
  const refunded = (await parts.book.ofPayment(payment.id)).find((it) => it.state === 'paid');
  if (refunded !== undefined) return nothingLeft(refundInWords(refunded));
  if (!(await isInUse(parts, payment, pass))) return nothingLeft(used);
  const detail = `What the payment has left may be in use: a request has taken it just now, or is owed for it, and gives it back if it fails. Try again in a moment; so far ${used}.`;
  return new TollhouseError('payment_in_progress', detail, { retryAfterSeconds: RETRY_SECONDS });
}

/** What was given back meanwhile is left again, and was in use when it was seen. */
async function isInUse(
  { book, passes, now }: NothingLeftParts,
  payment: Pick<PaymentRecord, 'id' | 'state'>,
  { id, left }: Pick<Pass, 'id' | 'left'>,
): Promise<boolean> {
  // Until it is served its own request goes on, or is run again.
  const own = payment.state === 'confirmed' ? payment.id : undefined;
  if (await book.isHeld(id, now() - IN_USE_MS, own)) return true;
  return (await passes.find(id))?.left !== left;
}

function refundInWords({ id, amount, signed, updatedAt }: RefundRecord): string {
  const transaction = signed === undefined ? '' : ` by the transaction ${signed.signature}`;
  return `what was left of it, ${amount} atomic units, was refunded at ${new Date(updatedAt).toISOString()}${transaction} (${id})`;
}
