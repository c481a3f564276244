import type { Response } from 'express';
import { defined } from '../../lib/defined.js';
import { whenKnown } from '../../lib/maybe-promise.js';
import { withAmountJson } from '../../protocol/money/amount-json.js';
import type { Terms } from '../../protocol/types.js';
import { createHolderGate, entitledWallet } from '../holders/holder-gate.js';
import { type HolderRule, readHolderRules } from '../holders/holder-rules.js';
import { createPassGates, type PassGateAsks } from '../passes/pass-gate.js';
import type { Refuse } from '../passes/pass-types.js';
import { listRoute } from '../terms/list-route.js';
import { resolvePaymentOptions } from '../terms/network-terms.js';
import { readSoldPasses, type SoldPasses } from '../terms/offers.js';
import { boughtNotes } from '../terms/pass-words.js';
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
  const resolved = resolvePaymentOptions(where, options);
  const listed = listRoute(where, declareIdentifiers(resolved));
  const sold = readSoldPasses(where, listed);
  const rules = readHolderRules(where, listed);
  const termsFor = soldTerms(termsForRequest(where, listed), sold);
  const gate = { where, options: listed, termsFor };
  const refuse: Refuse = async (req, res, cause) => {
    const offered = await offeredTerms(gate, req);
    return () => sendPaymentRequired(req, res, listed, offered, cause);
  };
  const paid: PassGateAsks['paid'] = (req, terms) => notePaid(req, gate, terms);
  const termsOf = rules.map((rule) => soldTerms(termsForRequest(where, rule.options), rule.sold));
  const offers = {
    kinds: [{ sold, termsFor }, ...termsOf.map((it, at) => ({ sold: rules[at]?.sold, termsFor: it }))],
    allowances: rules.map(({ allowance }) => allowance).filter((it) => it !== undefined),
  };
  const asks = { charges: (res: Response) => charges(gate, res), refuse, paid };
  const [passes, ...ofHolders] = createPassGates(where, listed, offers, asks, route);
  const forHolders = holdersInWords(rules);
  const words = [sold?.inWords, forHolders].filter((it) => it !== undefined).join(' ');
  const gates = rules.map((rule, at) =>
    holderGate(where, rule, { termsFor: termsOf[at] ?? termsFor, passes: ofHolders[at] }),
  );
  const holders = rules.length === 0 ? undefined : createHolderGate(where, rules, passes?.sales);
  return {
    ...gate,
    ...(words === '' ? {} : { unpaid: withOffers(UNPAID, words, forHolders) }),
    passes,
    watch: watchSetup(where, listed),
    ...(holders === undefined
      ? {}
      : { holders: { standing: holders, parts: rules[0]?.who.parts, gateOf: (rule) => gates[rules.indexOf(rule)] } }),
  };
}

/** The gate for those who hold something. */
function holderGate(
  where: string,
  rule: HolderRule,
  { termsFor, passes }: Pick<PaymentGate, 'termsFor' | 'passes'>,
): PaymentGate {
  const { options, who, inWords } = rule;
  const yours = `You hold ${who.inWords}, and for you it is ${inWords}.`;
  return {
    ...{ where, options, termsFor, passes },
    unpaid: withOffers(UNPAID, yours, yours),
    watch: watchSetup(where, options),
    payerOf: (req) => entitledWallet(req, rule),
  };
}

/** What a stranger is told of them. */
function holdersInWords(rules: readonly HolderRule[]): string | undefined {
  if (rules.length === 0) return undefined;
  const each = rules.map(({ who, inWords }) => `for holders of ${who.inWords} it is ${inWords}`);
  return `Sign in first where you hold something: ${each.join('; ')}.`;
}

/** Terms that say what they buy. */
export function soldTerms(termsFor: TermsFor, sold: SoldPasses | undefined): TermsFor {
  if (sold === undefined) return termsFor;
  // One list for each: what is made of it need not be made again.
  const told = new WeakMap<readonly Terms[], readonly Terms[]>();
  return (req, kind) =>
    whenKnown(termsFor(req, kind), (terms) => {
      const saying = told.get(terms) ?? terms.map((it) => saidTerms(it, sold));
      told.set(terms, saying);
      return saying;
    });
}

function saidTerms(terms: Terms, sold: SoldPasses): Terms {
  const said = withAmountJson({ ...terms, ...defined({ buys: sold.wordsFor(terms) }) });
  const bought = sold.boughtFor(terms);
  if (bought !== undefined) boughtNotes.put(said, bought);
  return said;
}
