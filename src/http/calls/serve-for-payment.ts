import type { KnownPayment } from '../../facilitator/types.js';
import { offeredTerms } from '../../middleware/payment/offered-terms.js';
import { decisionOn } from '../../middleware/payment/paid-request.js';
import type { PaymentAttempt } from '../../middleware/payment/payment-gate.js';
import { type RequiredCause, sendPaymentRequired } from '../../middleware/payment/payment-required.js';
import { x402V2 } from '../../protocol/codecs/x402-v2.js';

/** What a paid call goes on to is the upstream, and no handler of Express. */
export function noHandler(): void {}

/** Serves a call for the payment that was sent for it before, whatever is brought with it now; while that is on its way, tells so. */
export async function serveForPayment(
  asked: Pick<PaymentAttempt, 'req' | 'res' | 'gate' | 'retry'>,
  payment: KnownPayment,
): Promise<void> {
  const { req, res, gate } = asked;
  const offered = await offeredTerms(gate, req);
  const opened = await payment.resume(gate.options.commitment);
  const challenge = (cause: RequiredCause) => sendPaymentRequired(req, res, gate.options, offered, cause);
  const decision = await decisionOn({ ...asked, codec: x402V2, offered, opened, challenge });
  await (decision.admitted ? decision.enter(noHandler) : decision.answer());
}
