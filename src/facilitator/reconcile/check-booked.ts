import { isSignature } from '../../protocol/address.js';
import type { NetworkId } from '../../protocol/types.js';
import type { LandedTransaction } from '../../solana/rpc/landed-transaction.js';
import type { SignatureState, SolanaRpc } from '../../solana/rpc/rpc.js';
import type { BookedPayment } from '../../storage/books/payment-reader.js';
import type { Ledger, PaymentRecord } from '../../storage/ledger/ledger.js';
import type { PaymentRequestRecord } from '../../storage/ledger/payment-request.js';
import { bindingOf } from '../payments/payment-binding.js';
import { TRANSFER_SCHEME } from '../proofs/request-terms.js';
import { bookedAmountFault, paysTerms } from './booked-amount.js';
import { withRetry } from './with-retry.js';

/** What checking the books against the chain needs. */
export interface BookCheckParts {
  readonly rpc: Pick<SolanaRpc, 'getSignatureStatuses' | 'getTransaction'>;
  readonly ledger: Pick<Ledger, 'findPaymentRequest'>;
  readonly network: NetworkId;
  /** Whether the transactions are read too, at one call for each payment. */
  readonly amounts: boolean;
}

/**
 * What the chain says of a payment in the books. `fine`: the same. `open`: it is not over in the books. `wrong`: something
 * else, told in a sentence.
 */
export type BookCheck =
  | { readonly payment: BookedPayment; readonly verdict: 'fine' }
  | { readonly payment: BookedPayment; readonly verdict: 'open'; readonly detail: string }
  | { readonly payment: BookedPayment; readonly verdict: 'wrong'; readonly detail: string; readonly advice: string };

type PaidPayment = BookedPayment & { readonly signature: string };
type Wrong = Pick<Extract<BookCheck, { readonly verdict: 'wrong' }>, 'detail' | 'advice'>;

const AT_ONCE = 8;

const NOT_PAID = 'ask another node; if it does not know it either, what was given for it was not paid';
const HAS_PAID = 'the payer has paid and was given nothing for it: serve it, or pay it back';
const OTHERWISE = 'believe the transaction; look into the backups which entry was changed';

/** Compares a page of the books with the chain: payments of the network that have a signature, or are not over. */
export async function checkBooked(
  parts: BookCheckParts,
  page: readonly BookedPayment[],
): Promise<readonly BookCheck[]> {
  const payments = page.filter(({ terms }) => terms.network === parts.network);
  // What is no signature is nothing that the chain knows, and no reason to stop.
  const signed = payments.filter((it): it is PaidPayment => it.signature !== undefined && isSignature(it.signature));
  const states = await statesOf(parts, signed);
  const checks = payments.map((payment) => checkState(payment, states.get(payment.id) ?? null));
  if (!parts.amounts) return checks;
  const readable = new Set(checks.flatMap(({ verdict, payment }) => (verdict === 'fine' ? [payment.id] : [])));
  const landed = signed.filter(({ id }) => readable.has(id) && states.get(id)?.err === null);
  const faults = await faultsOf(parts, landed);
  return checks.map((check): BookCheck => {
    const fault = faults.get(check.payment.id);
    return fault === undefined ? check : { payment: check.payment, verdict: 'wrong', ...fault };
  });
}

async function statesOf(
  { rpc }: BookCheckParts,
  signed: readonly PaidPayment[],
): Promise<ReadonlyMap<string, SignatureState | null>> {
  if (signed.length === 0) return new Map();
  const signatures = signed.map(({ signature }) => signature);
  const { states } = await withRetry(() => rpc.getSignatureStatuses(signatures, { searchHistory: true }));
  return new Map(signed.map(({ id }, at) => [id, states[at] ?? null]));
}

function checkState(payment: BookedPayment, state: SignatureState | null): BookCheck {
  const wrong = (detail: string, advice: string): BookCheck => ({ payment, verdict: 'wrong', detail, advice });
  if (payment.state === 'claimed') return { payment, verdict: 'open', detail: 'not sent yet' };
  if (payment.state === 'broadcast') return { payment, verdict: 'open', detail: `sent; the chain: ${shown(state)}` };
  if (isPaid(payment)) {
    if (payment.signature === undefined) return wrong('booked as paid, and no transaction is named', OTHERWISE);
    if (state === null) return wrong('booked as paid, and the chain does not know it', NOT_PAID);
    if (state.err !== null) return wrong('booked as paid, and it failed on the chain', NOT_PAID);
    return { payment, verdict: 'fine' };
  }
  // A transaction that landed and did not do what it was to do is a failed payment: its transaction is read.
  const isJudged = payment.state === 'failed' && payment.reason !== 'invalid_exact_svm_transaction_failed';
  if (state === null || state.err !== null || isJudged) return { payment, verdict: 'fine' };
  return wrong(`booked as ${payment.state}, and it has landed`, HAS_PAID);
}

function shown(state: SignatureState | null): string {
  if (state === null) return 'does not know it';
  return state.err === null ? `landed in slot ${state.slot}` : `failed in slot ${state.slot}`;
}

function isPaid({ state }: Pick<PaymentRecord, 'state'>): boolean {
  return state === 'confirmed' || state === 'served';
}

/** What is wrong with payments that have landed, by payment. */
async function faultsOf(parts: BookCheckParts, payments: readonly PaidPayment[]): Promise<ReadonlyMap<string, Wrong>> {
  const faults = new Map<string, Wrong>();
  for (let at = 0; at < payments.length; at += AT_ONCE) {
    const lot = payments.slice(at, at + AT_ONCE);
    const found = await Promise.all(lot.map((payment) => faultOf(parts, payment)));
    for (const [index, { id }] of lot.entries()) {
      const fault = found[index];
      if (fault !== undefined) faults.set(id, fault);
    }
  }
  return faults;
}

async function faultOf({ rpc, ledger }: BookCheckParts, payment: PaidPayment): Promise<Wrong | undefined> {
  const landed = await withRetry(() => rpc.getTransaction(payment.signature, 'confirmed'));
  const isRequested = payment.terms.scheme === TRANSFER_SCHEME;
  // Not by `resourceOf`, which believes the terms; the id of a request has no bar in it.
  const [requestId = ''] = payment.binding.split('|', 1);
  const request = isRequested ? await ledger.findPaymentRequest(requestId) : undefined;
  if (!isPaid(payment)) return lostFault(landed, payment, request);
  if (landed === null) return { detail: 'booked as paid, and the chain cannot show it', advice: NOT_PAID };
  const detail = bookedAmountFault(landed, payment, request) ?? attemptFault(payment, request) ?? bindingFault(payment);
  return detail === undefined ? undefined : { detail, advice: OTHERWISE };
}

/** A request is paid by one payment, and knows which. */
function attemptFault({ id }: PaymentRecord, request: PaymentRequestRecord | undefined): string | undefined {
  if (request === undefined || request.attempt === id) return undefined;
  return `booked as the payment of ${request.id}, which names ${request.attempt ?? 'none'}`;
}

/** A payment is claimed for something on certain terms, which never change. */
function bindingFault({ binding, terms }: PaymentRecord): string | undefined {
  return binding.endsWith(bindingOf('', terms)) ? undefined : 'booked on other terms than it was claimed for';
}

/** A payment that was judged not to pay, when it had landed, is judged again. */
function lostFault(
  landed: LandedTransaction | null,
  payment: PaidPayment,
  request: PaymentRequestRecord | undefined,
): Wrong | undefined {
  if (landed === null || !paysTerms(landed, payment, request)) return undefined;
  const { state, reason = 'no reason' } = payment;
  return { detail: `booked as ${state} (${reason}), and it has landed and pays`, advice: HAS_PAID };
}
