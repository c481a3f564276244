import type { Request } from 'express';
import type { Claim } from '../../facilitator/types.js';
import type { Receipt } from '../../protocol/types.js';
import type { Retry } from '../idempotency/retry.js';
import type { PaymentAttempt, PaymentGate } from './payment-gate.js';

type Headers = Readonly<Record<string, string>>;

/**
 * Headers of the response to a payment whose money has landed: the receipt, and the pass that it has bought. Where that cannot
 * be read, the payment is kept for the one who may come again.
 */
export async function landedHeaders(attempt: PaymentAttempt, claim: Claim, receipt: Receipt): Promise<Headers> {
  const { req, gate, retry } = attempt;
  const told = receiptHeaders(attempt, receipt);
  // A payment that is brought for the first time has left nothing yet but what it buys.
  if (gate.passes?.sales === undefined && !claim.resumed) return told;
  try {
    return { ...told, ...(await tellOf(gate, req, claim.id, isTheirs(claim, retry))) };
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
    ...(await tellOf(gate, req, paymentId, retry.byIpAddress === undefined)),
  };
}

/** Headers that tell of the pass of a payment, whether that was bought or left to its payer; none where it has none. */
export async function tellOf(
  { passes }: Pick<PaymentGate, 'passes'>,
  req: Request,
  paymentId: string,
  isTheirs: boolean,
): Promise<Headers> {
  const known = passes?.compensation ?? passes?.sales;
  return known?.tellOf(req, paymentId, isTheirs) ?? {};
}

/** A landed transaction is public, and so is an address: whoever comes again with no more than these is told no token. */
export function isTheirs({ resumed }: Pick<Claim, 'resumed'>, { byIpAddress }: Pick<Retry, 'byIpAddress'>): boolean {
  return !resumed || byIpAddress === undefined;
}

function receiptHeaders({ codec, gate }: PaymentAttempt, receipt: Receipt): Headers {
  return codec.receipt({ status: 'settled', receipt }, gate.options.facilitator.network);
}
