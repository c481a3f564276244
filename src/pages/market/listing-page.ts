import { LISTING_SCRIPT } from '../client-scripts.js';
import { type Markup, markup } from '../layout/markup.js';
import type { RenderedPage } from '../layout/page.js';
import { dayIn, numberIn } from '../service/in-words.js';
import { type ServiceShell, servicePage } from '../service/service-page.js';
import { filledWith } from '../texts/filled-with.js';
import { clientExample, terminalExample } from './listing-examples.js';
import { freeCallsLine, priceLines } from './price-lines.js';
import type { ShownListing, ShownRoute } from './shown-listing.js';
import { tryDataOf, tryIt } from './try-it.js';

/** A listing as `GET /api/v1/marketplace/<slug>` answers it. */
export interface ListingContent extends ShownListing {
  readonly routes: readonly ShownRoute[];
  readonly openapi: unknown;
}

/** One listing of the marketplace: what it costs, how it has done, how it is called, and a way to try it. */
export function listingPage(shell: ServiceShell, listing: ListingContent): RenderedPage {
  const { places } = shell;
  const { name, description, tags, openapi, status } = listing;
  const data = tryDataOf(shell, listing);
  const tagList = tags.map(
    (it) => markup`<a class="tag" href="${places.marketplace}?tag=${encodeURIComponent(it)}">${it}</a>`,
  );
  return servicePage(shell, {
    title: name,
    place: 'marketplace',
    content: markup`<h1>${name}</h1>
${status === 'down' ? markup`<p class="notice" role="status">${shell.texts.resting}</p>` : undefined}
${description === null ? undefined : markup`<p class="words">${description}</p>`}
${tags.length === 0 ? undefined : markup`<p>${tagList}</p>`}
<div class="grid">${pricesCard(shell, listing)}${figuresCard(shell, listing)}</div>
${listing.routes.length === 0 ? undefined : routesCard(shell, listing)}
${data === undefined ? undefined : tryIt(shell, listing)}
${examples(shell, listing)}
${openapi === null ? undefined : ownDocument(shell, openapi)}`,
    style: STYLE,
    ...(data === undefined ? {} : { script: LISTING_SCRIPT, data }),
  });
}

function pricesCard(shell: ServiceShell, { pricing, free_calls: free }: ListingContent): Markup {
  return markup`<section class="card"><h2>${shell.texts.price}</h2>${priceLines(shell, pricing)}${freeCallsLine(shell, free)}</section>`;
}

function routesCard(shell: ServiceShell, { routes, pricing, has_free_routes: isSomeFree }: ListingContent): Markup {
  const { texts } = shell;
  const rows = routes.map(
    ({ method, path, price }) =>
      markup`<dt><span class="soft small">${method ?? texts.anyMethod}</span> <code>${path}</code></dt><dd>${priceLines(shell, price)}</dd>
`,
  );
  return markup`<section class="card"><h2>${texts.routes}</h2>
<dl class="routes">${rows}<dt>${texts.otherCalls}</dt><dd>${priceLines(shell, pricing)}</dd></dl>
${isSomeFree ? markup`<p class="soft small">${texts.freeNote}</p>` : undefined}</section>`;
}

function figuresCard({ texts }: ServiceShell, listing: ListingContent): Markup {
  const { calls, success_rate: rate, p95_ms: p95, owner, created_at: since } = listing;
  const { language, unknown } = texts;
  const speed = p95 === null ? unknown : filledWith(texts.within, { time: numberIn(language, p95) });
  return markup`<section class="card"><h2>${listing.slug}</h2><dl>
<dt>${texts.calls}</dt><dd>${numberIn(language, calls)}</dd>
<dt>${texts.answered}</dt><dd>${rate === null ? unknown : numberIn(language, rate, 'percent')}</dd>
<dt>${texts.speed}</dt><dd>${speed}</dd>
<dt>${texts.seller}</dt><dd class="mono">${owner}</dd>
<dt>${texts.since}</dt><dd>${dayIn(language, new Date(since))}</dd>
</dl></section>`;
}

function examples({ texts }: ServiceShell, { example }: ListingContent): Markup {
  const block = (title: string, code: string) =>
    markup`<h3>${title}</h3><pre tabindex="0" role="group" aria-label="${title}">${code}</pre>`;
  return markup`<section class="card"><h2>${texts.example}</h2>
<p><code>${example.method} ${example.url}</code></p>
${block(texts.fromTerminal, terminalExample(example))}
${block(texts.withClient, clientExample(example))}
${block(texts.withKey, example.curl)}</section>`;
}

function ownDocument({ texts }: ServiceShell, document: unknown): Markup {
  return markup`<section class="card"><details><summary>${texts.ownDocument}</summary>
<pre tabindex="0" role="group" aria-label="${texts.ownDocument}">${JSON.stringify(document, null, 2)}</pre></details></section>`;
}

const STYLE = `
fieldset { border: 0; padding: 0; margin: 1rem 0 0; display: grid; gap: .5rem; } legend { padding: 0; margin-bottom: .5rem; color: var(--soft); font-size: .9rem; }
.offer { display: flex; align-items: center; gap: .75rem; } .offer input { width: 1.15rem; min-height: 1.15rem; accent-color: var(--accent); flex: none; }
.routes { display: grid; grid-template-columns: minmax(0, 1fr); gap: .15rem 1.5rem; } .routes dt { overflow-wrap: anywhere; } .routes dd { margin: 0 0 .6rem; } .routes p { margin: 0; } .routes .price { font-size: 1.1rem; }
@media (min-width: 40rem) { .routes { grid-template-columns: minmax(0, 1fr) minmax(0, 1fr); gap: .6rem 1.5rem; } .routes dd { margin: 0; } }
.words { white-space: pre-line; overflow-wrap: anywhere; }
.fields { display: grid; gap: .75rem; grid-template-columns: repeat(auto-fit, minmax(min(100%, 14rem), 1fr)); }
.grid { grid-template-columns: repeat(auto-fit, minmax(min(100%, 20rem), 1fr)); }
#action { display: grid; gap: .6rem; margin-top: 1rem; grid-template-columns: repeat(auto-fit, minmax(min(100%, 15rem), 1fr)); }
#action img.icon { width: 1.5rem; height: 1.5rem; border-radius: 6px; }
#answer pre { white-space: pre-wrap; }
pre { max-height: 30rem; overflow: auto; }
`;
