import type { Claim } from '../../facilitator/types.js';
import type { Receipt } from '../../protocol/types.js';
import type { Retry } from '../idempotency/retry.js';
import type { PaymentAttempt } from './payment-gate.js';

type Headers = Readonly<Record<string, string>>;

/**
 * Headers of the response to a payment whose money has landed: the receipt, and the pass that it has bought. Where that cannot
 * be read, the payment is kept for the one who may come again.
 */
export async function landedHeaders(attempt: PaymentAttempt, claim: Claim, receipt: Receipt): Promise<Headers> {
  const { req, gate, retry } = attempt;
  const told = receiptHeaders(attempt, receipt);
  const sales = gate.passes?.sales;
  if (sales === undefined) return told;
  try {
    return { ...told, ...(await sales.tellOf(req, claim.id, isTheirs(claim, retry))) };
  } catch (error) {
    await claim.keep();
    throw error;
  }
}

/** The same headers once more, for a response that was kept. */
export async function servedHeaders(attempt: PaymentAttempt, paymentId: string, receipt: Receipt): Promise<Headers> {
  const { req, gate, retry } = attempt;
  return {
    ...receiptHeaders(attempt, receipt),
    ...(await gate.passes?.sales?.tellOf(req, paymentId, retry.byAddress === undefined)),
  };
}

/** A landed transaction is public, and so is an address: whoever comes again with no more than these is told no token. */
export function isTheirs({ resumed }: Pick<Claim, 'resumed'>, { byAddress }: Pick<Retry, 'byAddress'>): boolean {
  return !resumed || byAddress === undefined;
}

function receiptHeaders({ codec, gate }: PaymentAttempt, receipt: Receipt): Headers {
  return codec.receipt({ status: 'settled', receipt }, gate.options.facilitator.network);
}
