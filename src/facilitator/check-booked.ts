import type { NetworkId } from '../protocol/types.js';
import type { SignatureState, SolanaRpc } from '../solana/rpc.js';
import type { Ledger, PaymentRecord } from '../storage/ledger.js';
import type { BookedPayment } from '../storage/payment-reader.js';
import { amountFault } from './booked-amount.js';
import { patiently } from './patiently.js';
import { resourceOf } from './payment-binding.js';
import { TRANSFER_SCHEME } from './request-terms.js';

/** What checking the books against the chain needs. */
export interface BookCheckParts {
  readonly rpc: Pick<SolanaRpc, 'getSignatureStatuses' | 'getTransaction'>;
  readonly ledger: Pick<Ledger, 'findPaymentRequest'>;
  readonly network: NetworkId;
  /** Whether the amounts are compared too, at one call for each payment. */
  readonly amounts: boolean;
}

/**
 * What the chain says of a payment in the books. `fine`: the same. `open`: it is not over in the books. `wrong`: something
 * else, told in a sentence.
 */
export type BookCheck =
  | { readonly payment: BookedPayment; readonly verdict: 'fine' }
  | { readonly payment: BookedPayment; readonly verdict: 'open' | 'wrong'; readonly detail: string };

type PaidPayment = BookedPayment & { readonly signature: string };

const AT_ONCE = 8;

/** Compares a page of the books with the chain: payments of the network that have a signature, or are not over. */
export async function checkBooked(
  parts: BookCheckParts,
  page: readonly BookedPayment[],
): Promise<readonly BookCheck[]> {
  const payments = page.filter(({ terms }) => terms.network === parts.network);
  const signed = payments.filter((it): it is PaidPayment => it.signature !== undefined);
  const states = await statesOf(parts, signed);
  const checks = payments.map((payment) => checkState(payment, states.get(payment.id) ?? null));
  if (!parts.amounts) return checks;
  const faults = await faultsOf(
    parts,
    signed.filter((it) => isPaid(it) && isFine(checks, it)),
  );
  return checks.map((check): BookCheck => {
    const detail = faults.get(check.payment.id);
    return detail === undefined ? check : { payment: check.payment, verdict: 'wrong', detail };
  });
}

async function statesOf(
  { rpc }: BookCheckParts,
  signed: readonly PaidPayment[],
): Promise<ReadonlyMap<string, SignatureState | null>> {
  if (signed.length === 0) return new Map();
  const signatures = signed.map(({ signature }) => signature);
  const { states } = await patiently(() => rpc.getSignatureStatuses(signatures, { searchHistory: true }));
  return new Map(signed.map(({ id }, at) => [id, states[at] ?? null]));
}

function checkState(payment: BookedPayment, state: SignatureState | null): BookCheck {
  const wrong = (detail: string): BookCheck => ({ payment, verdict: 'wrong', detail });
  if (payment.state === 'claimed') return { payment, verdict: 'open', detail: 'not sent yet' };
  if (payment.state === 'broadcast') return { payment, verdict: 'open', detail: `sent; the chain: ${shown(state)}` };
  if (isPaid(payment)) {
    if (state === null) return wrong('booked as paid, and the chain does not know it');
    return state.err === null ? { payment, verdict: 'fine' } : wrong('booked as paid, and it failed on the chain');
  }
  // A transaction that landed and did not do what it was to do is a failed payment.
  const wasJudged = payment.state === 'failed' && payment.reason !== 'invalid_exact_svm_transaction_failed';
  if (state === null || state.err !== null || wasJudged) return { payment, verdict: 'fine' };
  return wrong(`booked as ${payment.state}, and it has landed`);
}

function shown(state: SignatureState | null): string {
  if (state === null) return 'does not know it';
  return state.err === null ? `landed in slot ${state.slot}` : `failed in slot ${state.slot}`;
}

function isPaid({ state }: Pick<PaymentRecord, 'state'>): boolean {
  return state === 'confirmed' || state === 'served';
}

function isFine(checks: readonly BookCheck[], { id }: BookedPayment): boolean {
  return checks.some(({ payment, verdict }) => payment.id === id && verdict === 'fine');
}

/** What is wrong with the amounts, by payment. */
async function faultsOf(parts: BookCheckParts, payments: readonly PaidPayment[]): Promise<ReadonlyMap<string, string>> {
  const faults = new Map<string, string>();
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

async function faultOf({ rpc, ledger }: BookCheckParts, payment: PaidPayment): Promise<string | undefined> {
  const landed = await patiently(() => rpc.getTransaction(payment.signature, 'confirmed'));
  if (landed === null) return 'booked as paid, and the chain cannot show it';
  const isRequested = payment.terms.scheme === TRANSFER_SCHEME;
  const request = isRequested ? await ledger.findPaymentRequest(resourceOf(payment)) : undefined;
  return amountFault(landed, payment, request);
}
