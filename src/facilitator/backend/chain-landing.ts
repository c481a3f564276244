import { TollhouseError } from '../../errors/errors.js';
import type { MaybePromise } from '../../lib/maybe-promise.js';
import { withAmountJson } from '../../protocol/money/amount-json.js';
import { REASONS, type Reason } from '../../protocol/reasons.js';
import type { Receipt, Refusal } from '../../protocol/types.js';
import type { Landing } from '../../solana/confirmation/confirmation.js';
import { RpcError } from '../../solana/rpc/rpc.js';
import type { ChainFault } from '../../solana/rules/simulation.js';
import type { BackendSettlement, InspectedPayment } from './backend.js';
import type { LandedReader } from './landed-reader.js';
import { unavailable } from './outcomes.js';

const RETRY_SECONDS = 2;

/** How long a payment that was made by itself can be shown after it landed, in milliseconds: it is for the call it was paid for. */
export const PROOF_MAX_AGE_MS = 600_000;

/** What there is to say of such a payment that was not looked at. */
export const PROOF_STAYS_GOOD = `A payment that has landed in time stays good for ${PROOF_MAX_AGE_MS / 60_000} minutes after that: send the same request with the same payment again.`;

/** What there is to say of a payment that may have landed before, while the chain does not tell. */
export const UNKNOWN_PAST =
  'The Solana RPC does not tell at the moment whether this payment has landed before: do not sign again, and send the same payment again in a moment.';

/** Waits for a call to the chain; an outage becomes `payment_backend_unavailable`, whatever was wrong with which endpoint. */
export function online<T>(call: Promise<T>): Promise<T> {
  return call.catch(throwUnavailable);
}

function throwUnavailable(error: unknown): never {
  if (!(error instanceof RpcError)) throw error;
  throw unavailable('The Solana RPC cannot be reached at the moment; nothing was charged.', error);
}

/** Waits for a call that reads a payment that was made by itself; an outage takes nothing from it. */
export async function brought<T>(call: Promise<T>): Promise<T> {
  try {
    return await call;
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    const detail = `The Solana RPC cannot be reached at the moment. ${PROOF_STAYS_GOOD}`;
    throw unavailable(detail, error);
  }
}

/** Waits for a call that asks about something that is not a payment under way; an outage becomes `chain_unavailable`. */
export async function asked<T>(call: Promise<T>): Promise<T> {
  try {
    return await call;
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    const detail = 'The Solana RPC cannot be reached at the moment; ask again in a moment.';
    throw new TollhouseError('chain_unavailable', detail, { retryAfterSeconds: RETRY_SECONDS, cause: error });
  }
}

/** For a transaction that may have been sent: an outage says nothing about what became of it. */
export function unknownInOutage(error: unknown): Landing {
  if (error instanceof RpcError) return { status: 'unknown' };
  throw error;
}

/** As much of a payment as is needed to judge what became of it. */
export type JudgedPayment = Pick<InspectedPayment, 'payer' | 'terms' | 'judge'>;

/** Turns what became of a transaction that was sent into what became of the payment. */
export function settlementOf(
  landing: Landing,
  judged: JudgedPayment,
  signature: string,
  landed: LandedReader,
): MaybePromise<BackendSettlement> {
  const { payer } = judged;
  if (landing.status === 'landed') return landedSettlement(landing, judged, signature, landed);
  if (landing.status !== 'expired') return { status: 'pending', signature, payer };
  const reason = 'invalid_exact_svm_transaction_expired';
  return { status: 'failed', final: 'expired', reason, message: REASONS[reason], payer, signature };
}

/** Where the chain must be asked what the transaction did, and does not tell, nothing is known yet. */
function landedSettlement(
  { err, slot }: Extract<Landing, { readonly status: 'landed' }>,
  judged: JudgedPayment,
  signature: string,
  landed: LandedReader,
): MaybePromise<BackendSettlement> {
  const { payer, judge } = judged;
  const failed = (reason: Reason, message: string) =>
    ({ status: 'failed', final: 'failed', payer, signature, reason, message }) as const;
  if (err !== null) return failed('invalid_exact_svm_transaction_failed', failureText(err));
  if (judge === undefined) return { status: 'settled', receipt: receiptFor(judged, signature, slot) };
  return landed(signature).then((transaction) => {
    if (transaction === undefined) return { status: 'pending', signature, payer };
    const reason = judge(transaction);
    if (reason !== undefined) return failed(reason, REASONS[reason]);
    return { status: 'settled', receipt: receiptFor(judged, signature, transaction.slot) };
  });
}

/** What there is to say of a transaction that landed with an error. */
export function failureText(err: unknown): string {
  return `${REASONS.invalid_exact_svm_transaction_failed} The chain said: ${JSON.stringify(err).slice(0, 200)}.`;
}

/** What there is to say of a payment that has landed, and of which nothing is in the books. */
export function landedRefusal(signature: string, err: unknown): Omit<Refusal, 'payer'> {
  if (err !== null) return { reason: 'invalid_exact_svm_transaction_failed', message: failureText(err), signature };
  const message = `This was paid already, by transaction ${signature}, and buys nothing more here. Nothing more is charged: do not sign again, and show this signature to the seller, who finds it on the chain.`;
  return { reason: 'duplicate_settlement', message, signature };
}

/** The payer's fault as reason and sentence; a fault of ours is thrown. */
export function payerFault(fault: ChainFault): { readonly reason: Reason; readonly message: string } {
  if (fault.blame === 'operator') throw unavailable(fault.message);
  return { reason: fault.reason, message: fault.message };
}

function receiptFor({ terms, payer }: JudgedPayment, signature: string, slot: number): Receipt {
  const { network, payTo, asset, amount } = terms;
  return withAmountJson({ signature, network, payer, payTo, asset, amount, slot });
}
