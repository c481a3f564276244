import type { Request } from 'express';
import type { Terms } from '../../protocol/types.js';
import type { SoldPass } from '../terms/credit-costs.js';
import { checkGroups } from '../terms/group-kinds.js';
import type { SoldPasses } from '../terms/offers.js';
import type { ResolvedPaymentOptions } from '../terms/payment-options.js';
import type { TermsFor } from '../terms/payment-terms.js';
import { soldOnce } from '../terms/sold-at.js';
import { partsAtSite } from './gate-parts.js';
import { readRoute, siteOfSeller, type WrittenRoute } from './pass-place.js';
import { PASS_VARY, type PassParts } from './pass-types.js';
import { type Compensation, createCompensation } from './price-credit.js';
import { gatePrices } from './price-place.js';
import { createPassSales, type PassSales } from './sold-passes.js';

/** What was paid at a gate before and covers requests to it: passes that are sold there, and what is left of payments whose requests failed. */
export interface PassGate {
  /** The passes that are sold; undefined where none are. */
  readonly sales: PassSales | undefined;
  /** Undefined where what payments have left is neither left nor taken: with `compensate: false`. */
  readonly compensation: Compensation | undefined;
}

/** What gates with passes ask of theirs. */
export interface PassGateAsks extends Pick<PassParts, 'charges' | 'refuse'> {
  /** Told that a request has paid by credit for its price: what a gate behind it asks for as well is paid once. */
  readonly paid: (req: Request, terms: Terms) => void;
}

/** What one kind of callers is asked for. */
export interface CallerOffer {
  /** What they may buy for more than one request; undefined where that is nothing. */
  readonly sold: SoldPasses | undefined;
  /** What a request costs. */
  readonly termsFor: TermsFor;
}

/** What is sold, and had, at a gate. */
export interface PassOffers {
  /** Of each kind of callers, strangers first. */
  readonly kinds: readonly CallerOffer[];
  /** What wallets have without paying. */
  readonly allowances: readonly SoldPass[];
}

/**
 * The passes of a gate, for each kind of its callers: all of them are covered by whatever any of them has bought. None where nothing is
 * sold or had for more than one request, and credit for its price is not taken.
 * @param asks - whether a response has its price, and what has a request asked to pay that was let in
 * @param route - as a table of routes has it
 * @throws TollhouseError `bad_option` where it is not certain who sells them
 */
export function createPassGates(
  where: string,
  options: ResolvedPaymentOptions,
  { kinds, allowances }: PassOffers,
  asks: PassGateAsks,
  route: string | undefined,
): readonly PassGate[] {
  const rules = [...kinds.flatMap(({ sold }) => sold?.rules ?? []), ...allowances];
  const { facilitator, baseUrl } = options;
  const written = readRoute(route);
  const salesFor = rules.length === 0 ? undefined : salesAt(where, options, rules, asks, written);
  // What is left of a pass is its wallet's, whenever the money is taken today.
  const isLeaving = salesFor !== undefined || options.settle === 'before';
  if (salesFor === undefined && !options.compensate) return [];
  const partsAt = partsAtSite(options, asks, PASS_VARY);
  return kinds.map(({ sold, termsFor }) => {
    const sales = salesFor?.(sold?.ruleOf ?? (() => undefined));
    if (!options.compensate) return { sales, compensation: undefined };
    const prices = gatePrices({ network: facilitator.network, baseUrl, termsFor, sold, written });
    return {
      sales,
      compensation: createCompensation({ facilitator, baseUrl, partsAt, prices, isLeaving, sales, paid: asks.paid }),
    };
  });
}

function salesAt(
  where: string,
  options: ResolvedPaymentOptions,
  rules: readonly SoldPass[],
  asks: PassGateAsks,
  written: WrittenRoute | undefined,
): ReturnType<typeof createPassSales> {
  const { facilitator } = options;
  const site = siteOfSeller(where, options);
  checkGroups(where, facilitator, site, rules);
  const checkRoute = soldOnce(where, { owner: facilitator, site, sells: whatSells(options, rules) });
  return createPassSales(where, options, rules, asks, { written, checkRoute });
}

/** Prices and what they buy, as a text: gates that were made with the same options have the same. */
function whatSells({ price, holders }: ResolvedPaymentOptions, rules: readonly SoldPass[]): string {
  const members = holders?.map((it) => [Reflect.get(it, 'price'), Reflect.get(it, 'pass')]);
  const bought = rules.map(({ byMint, ...rule }) => [rule, [...(byMint?.values() ?? [])]]);
  return JSON.stringify([price, members, bought], (_name, value: unknown) =>
    typeof value === 'bigint' || typeof value === 'function' ? String(value) : value,
  );
}
