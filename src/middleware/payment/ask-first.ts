import type { AskFirst } from '../gate/gate.js';
import { exposeHeaders } from '../gate/respond.js';
import { signInBesidePayment } from '../wallet/wallet-auth.js';
import { offeredTerms } from './offered-terms.js';
import type { PaymentGate } from './payment-gate.js';
import { EXPOSED_HEADERS, sendPaymentRequired } from './payment-required.js';

/**
 * How a payment gate asks a request that a gate before it refuses: the 402 that it would send, with the reason of the other. Should the
 * request have brought a payment, that is not looked at.
 */
export function askFirstAt(gate: PaymentGate): AskFirst {
  return async (req, res, reason) => {
    const offered = await offeredTerms(gate, req);
    const extensions = await signInBesidePayment(req);
    exposeHeaders(res, EXPOSED_HEADERS);
    const all = extensions === undefined ? offered : { ...offered, extensions };
    sendPaymentRequired(req, res, gate.options, all, reason);
  };
}
