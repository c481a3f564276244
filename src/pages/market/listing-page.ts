import { LISTING_SCRIPT } from '../client-scripts.js';
import { type Markup, markup } from '../layout/markup.js';
import type { RenderedPage } from '../layout/page.js';
import { dayIn, numberIn } from '../service/in-words.js';
import { type ServiceShell, servicePage } from '../service/service-page.js';
import { filledWith } from '../texts/filled-with.js';
import { clientExample, terminalExample } from './listing-examples.js';
import { buysOf, listedPrices, priceOf, type ShownListing } from './shown-listing.js';
import { tryDataOf, tryIt } from './try-it.js';

/** A listing as `GET /api/v1/marketplace/<slug>` answers it. */
export interface ListingContent extends ShownListing {
  readonly openapi: unknown;
}

/** One listing of the marketplace: what it costs, how it has done, how it is called, and a way to try it. */
export function listingPage(shell: ServiceShell, listing: ListingContent): RenderedPage {
  const { places } = shell;
  const { name, description, tags, openapi } = listing;
  const data = tryDataOf(shell, listing);
  const tagList = tags.map(
    (it) => markup`<a class="tag" href="${places.marketplace}?tag=${encodeURIComponent(it)}">${it}</a>`,
  );
  return servicePage(shell, {
    title: name,
    place: 'marketplace',
    content: markup`<h1>${name}</h1>
${description === null ? undefined : markup`<p class="words">${description}</p>`}
${tags.length === 0 ? undefined : markup`<p>${tagList}</p>`}
<div class="grid">${pricesCard(shell, listing)}${figuresCard(shell, listing)}</div>
${data === undefined ? undefined : tryIt(shell, listing)}
${examples(shell, listing)}
${openapi === null ? undefined : ownDocument(shell, openapi)}`,
    style: STYLE,
    ...(data === undefined ? {} : { script: LISTING_SCRIPT, data }),
  });
}

function pricesCard({ texts, payTexts }: ServiceShell, listing: ListingContent): Markup {
  const prices = listedPrices(listing).map(
    (it, at) =>
      markup`<p>${at === 0 ? undefined : `${texts.orElse} `}<strong class="price">${priceOf(it)}</strong> <span class="soft">${buysOf(it, payTexts())}</span></p>`,
  );
  return markup`<section class="card"><h2>${texts.price}</h2>${prices}</section>`;
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
.words { white-space: pre-line; overflow-wrap: anywhere; }
.fields { display: grid; gap: .75rem; grid-template-columns: repeat(auto-fit, minmax(min(100%, 14rem), 1fr)); }
.grid { grid-template-columns: repeat(auto-fit, minmax(min(100%, 20rem), 1fr)); }
#action { display: grid; gap: .6rem; margin-top: 1rem; grid-template-columns: repeat(auto-fit, minmax(min(100%, 15rem), 1fr)); }
#action img.icon { width: 1.5rem; height: 1.5rem; border-radius: 6px; }
#answer pre { white-space: pre-wrap; }
pre { max-height: 30rem; overflow: auto; }
`;
