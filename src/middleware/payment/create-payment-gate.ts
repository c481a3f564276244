import { defined } from '../../lib/defined.js';
import { whenKnown } from '../../lib/maybe-promise.js';
import { resolveOptions } from '../../lib/options.js';
import { withAmountJson } from '../../protocol/money/amount-json.js';
import type { Terms } from '../../protocol/types.js';
import { createPassGate, type PassGateAsks } from '../passes/pass-gate.js';
import type { Refuse } from '../passes/pass-types.js';
import { listRoute } from '../terms/list-route.js';
import { readSoldPasses, type SoldPasses } from '../terms/offers.js';
import { requirePaymentOptions } from '../terms/payment-options.js';
import { type TermsFor, termsForRequest } from '../terms/payment-terms.js';
import { watchSetup } from '../terms/watch-setup.js';
import { charges } from './gate-hooks.js';
import { declareIdentifiers } from './identified-payment.js';
import { offeredTerms } from './offered-terms.js';
import { notePaid } from './paid-before.js';
import type { PaymentGate } from './payment-gate.js';
import { sendPaymentRequired, UNPAID, withOffers } from './payment-required.js';

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
  const termsFor = soldTerms(termsForRequest(where, listed), sold);
  const refuse: Refuse = async (req, res, cause) => {
    const offered = await offeredTerms({ ...gate, termsFor }, req);
    return () => sendPaymentRequired(req, res, listed, offered, cause);
  };
  const paid: PassGateAsks['paid'] = (req, terms) => notePaid(req, gate, terms);
  return {
    ...gate,
    ...(sold === undefined ? {} : { unpaid: withOffers(UNPAID, sold.inWords) }),
    passes: createPassGate(
      where,
      listed,
      sold,
      { charges: (res) => charges(gate, res), refuse, termsFor, paid },
      route,
    ),
    termsFor,
    watch: watchSetup(where, listed),
  };
}

/** Terms that say what they buy. */
export function soldTerms(termsFor: TermsFor, sold: SoldPasses | undefined): TermsFor {
  if (sold === undefined) return termsFor;
  // One list for each: what is made of it need not be made again.
  const told = new WeakMap<readonly Terms[], readonly Terms[]>();
  return (req, kind) =>
    whenKnown(termsFor(req, kind), (terms) => {
      const saying =
        told.get(terms) ?? terms.map((it) => withAmountJson({ ...it, ...defined({ buys: sold.wordsFor(it) }) }));
      told.set(terms, saying);
      return saying;
    });
}
