import type { Request } from 'express';
import type { Networks } from '../../facilitator/networks/networks.js';
import type { Facilitator } from '../../facilitator/types.js';
import { VERSION } from '../../lib/version.js';
import { shownPrice } from '../../middleware/browser/shown-price.js';
import { requestOrigin } from '../../middleware/gate/request-url.js';
import { catalogueOf, type Listing } from '../../middleware/terms/catalogue.js';
import type { FrontContent, ServiceState, SoldRoute } from '../../pages/service/front-page.js';

/** More than these are for programs to find. */
const MAX_ROUTES = 12;

/** What the front page tells of a facilitator, and of the gates on it that want to be found. */
export async function frontContent(
  { all, joined }: Networks,
  req: Request,
  baseUrl: string | undefined,
  language: string,
): Promise<FrontContent> {
  const healths = await Promise.all(all.map((it) => it.health()));
  const listings = all.flatMap((it) => catalogueOf(it).listings()).slice(0, MAX_ROUTES);
  return {
    ...{ state: stateOf(healths.map(({ status }) => status)), version: VERSION },
    networks: all.map(({ network }) => network),
    feePayers: [...new Set(healths.map(({ wallet }) => wallet))],
    tokens: [...new Set(joined.tokens.map(({ symbol }) => symbol))],
    routes: listings.map((it) => routeOf(it, joined, { origin: requestOrigin(req, it.baseUrl ?? baseUrl), language })),
  };
}

/** Of all networks: what is so everywhere, else that it is not as it should be. */
function stateOf(states: readonly ServiceState[]): ServiceState {
  const [first = 'down'] = states;
  return states.every((it) => it === first) ? first : 'degraded';
}

function routeOf(
  { method, path, described, terms }: Listing,
  { tokens }: Facilitator,
  { origin, language }: { readonly origin: string; readonly language: string },
): SoldRoute {
  const [first] = terms;
  return {
    method,
    url: `${origin}${path}`,
    description: described.description,
    price: first && shownPrice(first, tokens, language).price,
    isPlace: !/[:*{]/.test(path),
  };
}
