import { resolveOptions } from '../options.js';
import { createGate, type Gate } from './gate.js';
import { declareIdentifiers } from './identified-payment.js';
import { listRoute } from './list-route.js';
import { decidePayment } from './paid-request.js';
import type { PaymentGate } from './payment-gate.js';
import { type RequirePaymentOptions, requirePaymentOptions } from './payment-options.js';
import { termsOf } from './payment-terms.js';
import { watchSetup } from './watch-setup.js';

const WHERE = 'requirePayment';

/**
 * Express middleware that asks for a payment before a route answers. An unpaid request gets a 402 that x402 clients of
 * both versions understand; a paid one reaches the handler, with {@link RequestPayment} on `req.payment`. One payment is
 * good for one response to one request, and whoever paid can have it again by sending the same request with the same
 * payment. Works on Express 4.21 and 5, on a route, a Router or an app.
 * @throws TollhouseError `bad_option` now, not at the first request, when an option is wrong
 */
export function requirePayment(options: RequirePaymentOptions): Gate {
  const resolved = listRoute(declareIdentifiers(resolveOptions(WHERE, requirePaymentOptions, options)));
  const gate: PaymentGate = { options: resolved, termsFor: termsOf(resolved), watch: watchSetup(resolved) };
  return createGate((req, res) => decidePayment(gate, req, res));
}
