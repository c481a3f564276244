import type { Claim } from '../../facilitator/types.js';
import { defined } from '../../lib/defined.js';
import { tellPayment } from '../gate/request-properties.js';
import { warned } from '../idempotency/idempotent-request.js';
import type { StoredResponse } from '../response/response-seal.js';
import { withoutConditions } from '../response/without-conditions.js';
import { isAskedStill } from '../terms/asked-still.js';
import { compensated } from './compensated.js';
import { identifiedPayment } from './identified-payment.js';
import { landedHeaders } from './landed-headers.js';
import { paidResponse, type SealedResponse } from './paid-responses.js';
import type { PaidRequest, PaymentAttempt } from './payment-gate.js';
import { sendPaymentRequired } from './payment-required.js';

/** All that a request whose payment is held works with, but for what comes behind the gate; it is answered whole from here on. */
export function openedRequest(
  attempt: PaymentAttempt,
  claim: Claim,
  receiptHeaders: PaidRequest['receiptHeaders'],
): Omit<PaidRequest, 'next'> {
  const { req, res, gate, retry, offered, payment } = attempt;
  const { options } = gate;
  withoutConditions(req);
  const meter = gate.passes?.sales?.meterOf(req, claim);
  const learned = { payer: claim.payer, terms: claim.terms, ...defined({ charge: meter?.charge }) };
  const keep = (kept: SealedResponse) => gate.keep?.(req, kept);
  const kept = paidResponse(options.facilitator, claim.id, { payer: claim.payer, keep, ...retry });
  const put = (response: StoredResponse) =>
    gate.keep === undefined ? kept.put(response) : warned(() => kept.put(response));
  // Whoever keeps it with books of his own asks once more as he writes.
  const isHeld = () => claim.isHeld().catch(() => gate.keep !== undefined);
  const identifier = gate.identifierFor?.(req, claim) ?? identifiedPayment(options, req, payment, claim);
  return {
    req,
    res,
    gate,
    claim,
    receiptHeaders,
    meter,
    tell: (receipt) => tellPayment(req, options.requestNames, learned, receipt),
    landedHeaders: (receipt) => landedHeaders(attempt, claim, receipt),
    kept: {
      find: kept.find,
      async put(response) {
        const isKept = response !== undefined && (await isHeld()) && (await put(response));
        // What a store could not keep may be kept yet: until that is known the identifier stays this payment's.
        if (isKept || response === undefined) await identifier.keep?.(response);
        return isKept;
      },
    },
    identifier,
    isAskedStill: isAskedStill(options, claim.terms, offered.terms),
    isByIpAddress: retry.byIpAddress !== undefined,
    ...compensated(attempt, claim, meter),
    challenge: (cause) => sendPaymentRequired(req, res, options, offered, cause),
  };
}
