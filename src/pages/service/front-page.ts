import type { NetworkId } from '../../protocol/types.js';
import { type Markup, markup } from '../layout/markup.js';
import type { RenderedPage } from '../layout/page.js';
import { WALLET_NETWORKS } from '../paywall/paywall-content.js';
import { type ServiceShell, servicePage } from './service-page.js';
import { webAddress } from './web-address.js';

/** How the service is. */
export type ServiceState = 'active' | 'degraded' | 'down';

/** A route that is for sale at this server. */
export interface SoldRoute {
  readonly method: string;
  readonly url: string;
  readonly description?: string | undefined;
  /** For people: `0.01 USDC`. Missing where it depends on the request. */
  readonly price?: string | undefined;
  /** Whether the address is one, and not a pattern of some. */
  readonly isPlace: boolean;
}

/** What the front page shows. */
export interface FrontContent {
  readonly state: ServiceState;
  readonly version: string;
  readonly networks: readonly NetworkId[];
  /** Symbols. */
  readonly tokens: readonly string[];
  /** Wallets that pay the network fees, base58. */
  readonly feePayers: readonly string[];
  readonly routes: readonly SoldRoute[];
}

/** The page of the service for people: what it is, how it is, and where to go from here. */
export function frontPage(shell: ServiceShell, content: FrontContent): RenderedPage {
  const { texts, brand, serviceName } = shell;
  const name = brand.name ?? serviceName;
  const { state, version, networks, tokens, feePayers } = content;
  return servicePage(shell, {
    title: name,
    place: 'home',
    content: markup`<h1>${texts.tagline}</h1>
<p class="soft">${texts.about}</p>
${places(shell)}
${forSale(shell, content)}
<section class="card"><h2><span class="dot ${state}"></span>${texts[state]}</h2>
<dl>
<dt>${texts.network}</dt>${networks.map((it) => markup`<dd>${WALLET_NETWORKS[it][0]}</dd>`)}
<dt>${texts.tokens}</dt><dd>${tokens.join(', ')}</dd>
<dt>${texts.feePayer}</dt>${feePayers.map((it) => markup`<dd class="mono">${it}</dd>`)}
<dt>${texts.version}</dt><dd>${version}</dd>
</dl></section>`,
  });
}

function places({ texts, places }: ServiceShell): Markup {
  const card = (path: string | undefined, title: string, about: string) =>
    path === undefined
      ? undefined
      : markup`<section class="card"><h2><a href="${path}">${title}</a></h2><p>${about}</p></section>`;
  return markup`<div class="grid">${card(places.marketplace, texts.marketplace, texts.marketplaceIs)}
${card(places.docs, texts.docs, texts.docsAre)}</div>`;
}

function forSale({ texts }: ServiceShell, { routes }: FrontContent): Markup | undefined {
  if (routes.length === 0) return undefined;
  const rows = routes.map(({ method, url, description, price, isPlace }) => {
    const link = method === 'GET' && isPlace ? webAddress(url) : undefined;
    const address = link ? markup`<a href="${link}">${description ?? url}</a>` : markup`${description ?? url}`;
    return markup`<li class="row"><span>${address}<br><code class="soft">${method} ${url}</code></span><strong>${price}</strong></li>`;
  });
  return markup`<section class="card"><h2>${texts.soldHere}</h2><ul class="plain">${rows}</ul></section>`;
}
