import { resolveOptions } from '../../lib/options.js';
import { listRoute } from '../terms/list-route.js';
import { requirePaymentOptions } from '../terms/payment-options.js';
import { termsForRequest } from '../terms/payment-terms.js';
import { watchSetup } from '../terms/watch-setup.js';
import { declareIdentifiers } from './identified-payment.js';
import type { PaymentGate } from './payment-gate.js';

/**
 * Makes the gate of a route from options as somebody typed them.
 * @param where - the function that they were given to, for messages
 * @throws TollhouseError `bad_option` when an option is wrong
 */
export function createPaymentGate(where: string, options: unknown): PaymentGate {
  const resolved = resolveOptions(where, requirePaymentOptions, options);
  const listed = listRoute(where, declareIdentifiers(resolved));
  return { where, options: listed, termsFor: termsForRequest(where, listed), watch: watchSetup(where, listed) };
}
