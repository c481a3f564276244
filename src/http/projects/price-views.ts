import type { OfferedRoute } from '../../gateway/prices/offered-routes.js';
import { soldPasses } from '../../gateway/prices/project-offers.js';
import { formatAmount } from '../../protocol/money/money.js';
import type { Token } from '../../protocol/types.js';
import type { CallPrice, ProjectMoney, ProjectPass } from '../../storage/projects/call-price.js';
import type { ProjectRoute } from '../../storage/projects/project-routes.js';
import type { ProjectPrice } from '../../storage/projects/projects.js';
import type { ResponseBody } from '../framework/fields.js';
import type { callPriceResponse, priceResponse } from './price-schemas.js';
import type { offeredRouteResponse, routeResponse } from './route-schemas.js';

/** What calls cost. */
export function priceView({ network, chargeOn = [], ...price }: ProjectPrice): ResponseBody<typeof priceResponse> {
  return { ...callPriceView(price), network, charge_on: [...chargeOn] };
}

/** What a project does with some calls. */
export function routeView(route: ProjectRoute): ResponseBody<typeof routeResponse> {
  const { method = null, path, price, free = false, deny = null } = route;
  return { method, path, price: price === undefined ? null : callPriceView(price), free, deny };
}

/** What buyers see of a route. */
export function offeredRouteView({ route }: OfferedRoute): ResponseBody<typeof offeredRouteResponse> {
  const { deny: _none, ...shown } = routeView(route);
  return shown;
}

/** What some calls cost. */
export function callPriceView(price: CallPrice): ResponseBody<typeof callPriceResponse> {
  const { pass, prices = [], offers = [] } = price;
  const words = buysInWords(price);
  return {
    ...moneyView(price),
    buys: words(price),
    pass: pass === undefined ? null : passView(pass, price.token),
    prices: prices.map(moneyView),
    offers: offers.map((it) => ({ ...moneyView(it), buys: words(it), pass: passView(it.pass, it.token) })),
  };
}

/** What a payment of each price buys. */
function buysInWords(price: CallPrice): (paid: ProjectMoney) => string {
  const sold = soldPasses('pricing', price);
  return ({ amount, token }) => sold?.wordsFor({ asset: token.mint, amount }) ?? '1 request';
}

function moneyView({ amount, token }: ProjectMoney) {
  return {
    amount: formatAmount(amount, token.decimals),
    amount_atomic: String(amount),
    token: token.symbol,
    mint: token.mint,
    decimals: token.decimals,
    token_program: token.program,
  };
}

function passView({ uses, for: time, cost, group }: ProjectPass, { decimals }: Token) {
  return {
    ...{ uses: uses ?? null, for: time ?? null, group: group ?? null },
    credit: cost !== undefined,
    cost: cost === undefined ? null : formatAmount(cost, decimals),
    cost_atomic: cost === undefined ? null : String(cost),
  };
}
