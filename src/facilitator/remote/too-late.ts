import type { Reason } from '../../protocol/reasons.js';
import type { Refusal } from '../../protocol/types.js';
import type { InspectedPayment } from '../backend/backend.js';
import { landedRefusal, UNKNOWN_PAST } from '../backend/chain-landing.js';
import { unavailable } from '../backend/outcomes.js';
import type { RemoteChain } from './remote-chain.js';

const TOO_LATE: ReadonlySet<Reason> = new Set([
  'invalid_exact_svm_blockhash_expired',
  'invalid_exact_svm_transaction_expired',
]);
/** As nodes say it, and as clients of them write it; facilitators pass that on under reasons of many names. */
const NODE_WORDS = /blockhash ?not ?found|already ?(been )?processed/i;

const DOUBT =
  'That is the word of another facilitator, and whether this transaction has landed before is not known here. Look at the latest transactions of the paying wallet first: if this payment is among them, do not sign again, and show its signature to the seller.';

/** Whether a refusal says that a payment is too late, or was there before, so that its payer would sign again. */
export function isTooLate({ reason, message }: Refusal): boolean {
  return TOO_LATE.has(reason) || NODE_WORDS.test(message);
}

/** Such a refusal, where nobody can say whether the payment has landed: with what to look for before it is signed again. */
export function inDoubt<R extends Refusal>(refusal: R): R {
  return { ...refusal, message: `${refusal.message} ${DOUBT}` };
}

/**
 * What there is to say of a payment that another facilitator does not find good. Whoever signs again what has landed pays twice, so
 * the chain is asked first, where it may be.
 * @throws {TollhouseError} `payment_backend_unavailable` where it does not tell
 */
export async function whyTooLate<R extends Refusal>(
  chain: RemoteChain | undefined,
  inspected: InspectedPayment,
  refusal: R,
): Promise<R> {
  if (!isTooLate(refusal)) return refusal;
  const past = await chain?.landedBefore(inspected);
  if (past?.status === 'unknown') throw unavailable(UNKNOWN_PAST);
  if (past?.status === 'landed') return { ...refusal, ...landedRefusal(past.signature, past.err) };
  return past?.status === 'never' ? refusal : inDoubt(refusal);
}
