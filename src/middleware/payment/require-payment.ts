import { type Admit, createGate, type Gate } from '../gate/gate.js';
import type { RequirePaymentOptions } from '../terms/payment-options.js';
import { observeGate } from '../tracing/gate-request.js';
import { decidedInSpan } from '../tracing/request-span.js';
import { createPaymentGate } from './create-payment-gate.js';
import { decidePayment } from './paid-request.js';
import { askFirstAt } from './unpaid-request.js';

const WHERE = 'requirePayment';

/**
 * Express middleware that asks for a payment before a route answers. An unpaid request gets a 402 that x402 clients of
 * both versions understand; a paid one reaches the handler, with {@link RequestPayment} on `req.payment`. One payment is
 * good for one response to one request, and whoever paid can have it again by sending the same request with the same
 * payment. Works on Express 4.21 and 5, on a route, a Router or an app. Two gates before one handler that ask for the same
 * are paid once; where they ask for different things, the first request that is paid at one of them is an error for Express
 * (`bad_option`), and nothing is charged unless the first gate takes the money first.
 * @throws TollhouseError `bad_option` now, not at the first request, when an option is wrong
 */
export function requirePayment(options: RequirePaymentOptions): Gate {
  const gate = createPaymentGate(WHERE, options);
  const { observed } = gate.options.facilitator;
  const decide: Admit = (req, res) => {
    observeGate(observed, req, res);
    return decidedInSpan('tollhouse.payment', req, res, () => decidePayment(gate, req, res));
  };
  return createGate(WHERE, decide, askFirstAt(gate));
}
