import { resolveOptions } from '../../lib/options.js';
import { createPassGate } from '../passes/pass-gate.js';
import { listRoute } from '../terms/list-route.js';
import { readSoldPasses } from '../terms/offers.js';
import { requirePaymentOptions } from '../terms/payment-options.js';
import { termsForRequest } from '../terms/payment-terms.js';
import { watchSetup } from '../terms/watch-setup.js';
import { charges } from './gate-hooks.js';
import { declareIdentifiers } from './identified-payment.js';
import type { PaymentGate } from './payment-gate.js';
import { UNPAID, withOffers } from './payment-required.js';

/**
 * Makes the gate of a route from options as somebody typed them.
 * @param where - the function that they were given to, for messages
 * @param route - the route as a table of routes has it. Default: that of Express
 * @throws TollhouseError `bad_option` when an option is wrong
 */
export function createPaymentGate(where: string, options: unknown, route?: string): PaymentGate {
  const resolved = resolveOptions(where, requirePaymentOptions, options);
  const listed = listRoute(where, declareIdentifiers(resolved));
  const gate = { where, options: listed };
  const sold = readSoldPasses(where, listed);
  return {
    ...gate,
    ...(sold === undefined ? {} : { unpaid: withOffers(UNPAID, sold.inWords) }),
    passes: createPassGate(where, listed, sold, (res) => charges(gate, res), route),
    termsFor: termsForRequest(where, listed),
    watch: watchSetup(where, listed),
  };
}
