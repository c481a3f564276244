import type { z } from 'zod';
import type { callPriceResponse } from '../../http/projects/price-schemas.js';
import type { routeResponse } from '../../http/projects/route-schemas.js';
import { printStep } from './terminal.js';

type Prices = z.output<typeof callPriceResponse>;
type Route = Omit<z.output<typeof routeResponse>, 'deny'> & Partial<Pick<z.output<typeof routeResponse>, 'deny'>>;

/** A price as people write it: `0.01 USDC`, `0.05 USDC for 10 requests`. */
export function priceText({ amount, token, pass, buys }: Pick<Prices, 'amount' | 'token' | 'pass' | 'buys'>): string {
  return pass === null ? `${amount} ${token}` : `${amount} ${token} for ${buys}`;
}

/** Prints what calls cost where no route says something else, a price a line. */
export function printPrices({ network, ...pricing }: Prices & { readonly network: string }): void {
  const [first, ...others] = textsOf(pricing);
  printStep('price', `${first} on ${network}`);
  for (const it of others) printStep('or', it);
}

/** Prints what calls of some paths cost. */
export function printRoutes(routes: readonly Route[]): void {
  for (const it of routes) printStep('route', `${it.method ?? 'any'} ${it.path} ${routeCostText(it)}`);
}

/** What a call of a route costs, as people write it. */
export function routeCostText({ price, free, deny }: Route): string {
  if (free) return 'free';
  return price === null ? `not for sale (${deny})` : pricesText(price);
}

/** All that may be paid for some calls, in the seller's order. */
export function pricesText(price: Prices): string {
  return textsOf(price).join(' or ');
}

function textsOf(price: Prices): readonly string[] {
  return [
    priceText(price),
    ...price.prices.map(({ amount, token }) => `${amount} ${token}`),
    ...price.offers.map(priceText),
  ];
}
