import type { Request } from 'express';
import { priceScope } from '../../facilitator/payments/price-credit.js';
import { createRequestNote } from '../../lib/http/request-note.js';
import { siteOfGate } from '../../protocol/networks/pass-site.js';
import type { Terms } from '../../protocol/types.js';
import type { CreditCost } from '../terms/credit-costs.js';
import type { SoldPasses } from '../terms/offers.js';
import type { TermsFor } from '../terms/payment-terms.js';
import { passScope, type WrittenRoute } from './pass-place.js';
import type { PassParts, PassPlace } from './pass-types.js';

/** What the prices of a gate are read with. */
export interface PricedGate {
  readonly network: Terms['network'];
  readonly baseUrl: string | undefined;
  readonly termsFor: TermsFor;
  /** Undefined where no passes are sold. */
  readonly sold: SoldPasses | undefined;
  readonly written: WrittenRoute | undefined;
}

/** Where credit for the price of a gate is good, for a request to it. */
export interface PricedPlace extends Pick<PassParts, 'site'> {
  readonly place: PassPlace;
}

/** The prices of a gate, as credit for them sees them. */
export interface GatePrices {
  /** The scope of credit for the price of a request. Asked first before anything behind the gate runs, it stays the same. */
  scopeOf(req: Request): string;
  /** What such credit costs for a request: what the request costs now; nothing where it has no price but those of passes. Undefined without a price. */
  placeOf(req: Request): Promise<PricedPlace | undefined>;
  /** Whether credit covers the price of these terms: they buy one response, and no pass. */
  covers(terms: Terms): boolean;
}

/** Reads what the requests to a gate cost that are paid one by one. */
export function gatePrices({ network, baseUrl, termsFor, sold, written }: PricedGate): GatePrices {
  const scopes = createRequestNote<Request, string>();
  const covers = (terms: Terms) => sold?.ruleOf(terms) === undefined;
  function scopeOf(req: Request): string {
    const scope = scopes.of(req) ?? priceScope(passScope(req, { group: undefined }, written));
    scopes.put(req, scope);
    return scope;
  }
  return {
    scopeOf,
    covers,
    async placeOf(req) {
      const all = await termsFor(req, { network, feePayer: '' });
      const prices = all.filter(covers);
      const [first = all[0]] = prices;
      if (first === undefined) return undefined;
      const place = { scope: scopeOf(req), costs: costsOf(prices), prices };
      return { site: siteOfGate(baseUrl, first.payTo, first.network), place };
    },
  };
}

/** Of several prices in one token the payer has the choice. */
function costsOf(prices: readonly Terms[]): ReadonlyMap<string, CreditCost> {
  const costs = new Map<string, CreditCost>();
  for (const { asset: mint, amount } of prices) {
    const known = costs.get(mint);
    if (known === undefined || known.amount > amount) costs.set(mint, { mint, amount, stream: false });
  }
  return costs;
}
