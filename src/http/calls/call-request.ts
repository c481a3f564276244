import type { Request } from 'express';
import { retryHashOf } from '../../facilitator/payments/retry-hash.js';
import type { Call } from '../../gateway/calls/call.js';
import type { Gateway } from '../../gateway/gateway.js';
import { createRequestNote } from '../../lib/http/request-note.js';
import { readPayment } from '../../middleware/gate/presented-payment.js';
import { paymentSecretOf, type Retry } from '../../middleware/idempotency/retry.js';
import { SERVICE_PAYMENT_HEADER } from '../../protocol/wire/service-payment.js';

const calls = createRequestNote<Request, Call>();

/** Notes the call that a request is. */
export function noteCall(req: Request, call: Call): void {
  calls.put(req, call);
}

/** The call that a request is. */
export function callOf(req: Request): Call {
  const call = calls.of(req);
  if (call === undefined) throw new Error(`${req.path} is no call of a project`);
  return call;
}

/** Names the caller of a call: his service key, by whichever of its secrets that was proven. Both are good while one follows the other. */
export function callerOfCall({ key }: Call): string {
  return `service key ${key.id}`;
}

/**
 * Who may come again for the payment of a call: its caller. The response is kept with what the payment has brought that the chain does
 * not tell.
 * @param brought - that of {@link broughtSecret}. Default: of the payment in the request
 */
export type CallRetry = (req: Request, brought?: string) => Retry & Required<Pick<Retry, 'sealedWith'>>;

/** Makes what tells that of the calls of a gateway. */
export function createCallRetry({ responseSecrets: sealedWith }: Pick<Gateway, 'responseSecrets'>): CallRetry {
  return (req, brought = broughtSecret(req)) => {
    const caller = callerOfCall(callOf(req));
    return { hash: retryHashOf({ secret: caller }), secret: `${caller} ${brought}`, sealedWith };
  };
}

/** What the payment in a request brings that is neither on the chain nor in the books; empty where it brings nothing of the kind. */
export function broughtSecret(req: Request): string {
  // A signature is on the chain, and what comes beside it pays nothing.
  if (req.get(SERVICE_PAYMENT_HEADER) !== undefined) return '';
  const reading = readPayment(req)?.reading;
  return (reading?.ok ? paymentSecretOf(reading.payment) : undefined) ?? '';
}
