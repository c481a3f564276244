import type { Request } from 'express';
import type { Terms } from '../../protocol/types.js';
import { varyBy } from '../gate/cache-control.js';
import type { SoldPasses } from '../terms/offers.js';
import type { ResolvedPaymentOptions } from '../terms/payment-options.js';
import type { TermsFor } from '../terms/payment-terms.js';
import { partsAtSite } from './gate-parts.js';
import { readRoute } from './pass-place.js';
import { PASS_VARY, type PassParts } from './pass-types.js';
import { type Compensation, createCompensation } from './price-credit.js';
import { gatePrices } from './price-place.js';
import { createPassSales, type PassSales } from './sold-passes.js';

/** What was paid at a gate before and covers requests to it: passes that are sold there, and what is left of payments whose requests failed. */
export interface PassGate {
  readonly admit: Compensation['admit'];
  /** The passes that are sold; undefined where none are. */
  readonly sales: PassSales | undefined;
  /** Undefined where a request that fails leaves its payment owed. */
  readonly compensation: Compensation | undefined;
}

/** What gates with passes ask of theirs. */
export interface PassGateAsks extends Pick<PassParts, 'charges' | 'refuse'> {
  /** What a request costs. */
  readonly termsFor: TermsFor;
  /** Told that a request has paid by credit for its price: what a gate behind it asks for as well is paid once. */
  readonly paid: (req: Request, terms: Terms) => void;
}

/**
 * The passes of a gate that sells some, or makes good for requests that fail; undefined for others.
 * @param sold - what may be bought; undefined where nothing is but responses one by one
 * @param asks - whether a response has its price, what has a request asked to pay that was let in, and what it costs
 * @param route - as a table of routes has it
 */
export function createPassGate(
  where: string,
  options: ResolvedPaymentOptions,
  sold: SoldPasses | undefined,
  asks: PassGateAsks,
  route: string | undefined,
): PassGate | undefined {
  // What is left of a pass is its wallet's, whenever the money is taken today.
  const isMadeGood = options.compensate && (sold !== undefined || options.settle === 'before');
  const written = readRoute(route);
  const sales = sold && createPassSales(where, options, sold, asks, { written });
  if (!isMadeGood) return sales && { admit: sales.admit, sales, compensation: undefined };
  const { facilitator, baseUrl } = options;
  const prices = gatePrices({ network: facilitator.network, baseUrl, termsFor: asks.termsFor, sold, written });
  const partsAt = partsAtSite(options, asks, PASS_VARY);
  const compensation = createCompensation({ facilitator, baseUrl, partsAt, prices, sales, paid: asks.paid });
  return { admit: admitAt(sales, compensation, sold?.hasSingles ?? true), sales, compensation };
}

/** By a pass, and where none covers the request by credit for its price. */
function admitAt(sales: PassSales | undefined, compensation: Compensation, hasPrice: boolean): PassGate['admit'] {
  if (sales === undefined) {
    return (req, res, isPaying) => {
      varyBy(res, PASS_VARY);
      return compensation.admit(req, res, isPaying);
    };
  }
  if (!hasPrice) return sales.admit;
  return async (req, res, isPaying) => {
    const byPass = await sales.admit(req, res, isPaying);
    if (byPass?.admitted) return byPass;
    const byCredit = await compensation.admit(req, res, isPaying);
    // Of a token that both refuse the other one knows what it is for.
    if (byPass === undefined || byPass.cause.code === 'pass_of_another_route') return byCredit ?? byPass;
    return byCredit?.admitted ? byCredit : byPass;
  };
}
