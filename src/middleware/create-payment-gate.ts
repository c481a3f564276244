import { resolveOptions } from '../options.js';
import { declareIdentifiers } from './identified-payment.js';
import { listRoute } from './list-route.js';
import type { PaymentGate } from './payment-gate.js';
import { requirePaymentOptions } from './payment-options.js';
import { termsOf } from './payment-terms.js';
import { watchSetup } from './watch-setup.js';

/**
 * Makes the gate of a route from options as somebody typed them.
 * @param where - the function that they were given to, for messages
 * @throws TollhouseError `bad_option` when an option is wrong
 */
export function createPaymentGate(where: string, options: unknown): PaymentGate {
  const resolved = resolveOptions(where, requirePaymentOptions, options);
  const listed = listRoute(where, declareIdentifiers(resolved));
  return { where, options: listed, termsFor: termsOf(where, listed), watch: watchSetup(where, listed) };
}
