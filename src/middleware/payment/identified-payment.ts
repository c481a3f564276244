import type { Request, Response } from 'express';
import { walletOwner } from '../../facilitator/backend/wallet-owner.js';
import type { Claim } from '../../facilitator/types.js';
import { declareIdentifier, PAYMENT_IDENTIFIER, readIdentifier } from '../../protocol/payment-identifier.js';
import type { Payment } from '../../protocol/types.js';
import { sendProblem } from '../gate/respond.js';
import { createIdempotentRequest, type IdempotentRequest } from '../idempotency/idempotent-request.js';
import type { StoredResponse } from '../response/response-seal.js';
import type { ResolvedPaymentOptions } from '../terms/payment-options.js';

const MISSING = `This resource is paid with the extension "${PAYMENT_IDENTIFIER}": add an id to it that was not used before.`;
/** Nobody waits for the end of a run under an identifier: it only says whose the identifier is. */
const LEASE_MS = 1;

/** Declares in the 402 of a route that payments may carry an identifier; a declaration that was given by hand stays. */
export function declareIdentifiers(options: ResolvedPaymentOptions): ResolvedPaymentOptions {
  const { paymentIdentifier } = options;
  if (paymentIdentifier === 'off') return options;
  const declaration = declareIdentifier(paymentIdentifier === 'required');
  return Object.freeze({ ...options, extensions: { [PAYMENT_IDENTIFIER]: declaration, ...options.extensions } });
}

/** What is wrong with the identifier of a payment (x402's `payment-identifier`), as a sentence for the payer. */
export function identifierFault({ paymentIdentifier }: ResolvedPaymentOptions, payment: Payment): string | undefined {
  if (paymentIdentifier === 'off') return undefined;
  const reading = readIdentifier(payment.extensions);
  if (!reading.ok) return reading.detail;
  return reading.id === undefined && paymentIdentifier === 'required' ? MISSING : undefined;
}

/** One payment under an identifier of its payer's. */
export interface IdentifiedPayment {
  /** Makes the identifier this payment's and no other's. Where it is another's, and nothing may be taken: what answers the request. */
  take(): Promise<((res: Response) => void | Promise<void>) | undefined>;
  /** Its response was kept for the payment; undefined: it cannot be had again. Default: that is nothing to the identifier. */
  keep?(response: StoredResponse | undefined): Promise<void>;
  /** Whether it is still this payment's: where a process stood still for too long, another may have come under it. Default: it is. */
  isHeld?(): Promise<boolean>;
  /** Gives it back, for a payment that is as if it had never been brought. */
  giveBack(): Promise<unknown>;
  /** The request is over, or its payer told to come again, however it went. Default: that is nothing to it. */
  leave?(): Promise<void>;
}

const ANONYMOUS: IdentifiedPayment = { take: async () => undefined, giveBack: async () => undefined };

/**
 * Sees to it that one payment goes under one identifier: a client that pays anew under the same is not charged twice. The
 * identifier counts on one method and path.
 */
export function identifiedPayment(
  { paymentIdentifier, facilitator }: ResolvedPaymentOptions,
  req: Request,
  payment: Payment | undefined,
  { id, payer }: Pick<Claim, 'id' | 'payer'>,
): IdentifiedPayment {
  const reading = readIdentifier(payment?.extensions);
  if (paymentIdentifier === 'off' || !reading.ok || reading.id === undefined) return ANONYMOUS;
  const run: IdempotentRequest = createIdempotentRequest({
    store: facilitator.idempotency,
    scope: JSON.stringify([PAYMENT_IDENTIFIER, req.method, `${req.baseUrl}${req.path}`]),
    secret: reading.id,
    fingerprint: id,
    leaseMs: LEASE_MS,
    owner: walletOwner(payer),
  });
  return {
    take: async () => ((await run.begin()).status === 'mismatch' ? sendIdTaken : undefined),
    giveBack: () => run.abandon(),
  };
}

/** Another payment was made under the identifier. */
function sendIdTaken(res: Response): void {
  const detail =
    'Another payment was made under this payment identifier; this one was not charged. Send the first payment again, which brings its response, or pay under another identifier.';
  sendProblem(res, 'payment_identifier_conflict', detail);
}
