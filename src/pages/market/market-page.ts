import { type Markup, markup } from '../layout/markup.js';
import type { RenderedPage } from '../layout/page.js';
import { numberIn } from '../service/in-words.js';
import { type ServiceShell, servicePage } from '../service/service-page.js';
import { buysOf, rangeOf, type ShownListing } from './shown-listing.js';

/** What was looked for, as the address says it. */
export interface ShownSearch {
  readonly q?: string | undefined;
  readonly tag?: string | undefined;
  readonly token?: string | undefined;
  readonly min_price?: string | undefined;
  readonly max_price?: string | undefined;
  readonly sort: 'calls' | 'price' | 'new';
  readonly limit: number;
}

/** A page of the marketplace, as `GET /api/v1/marketplace` answers it. */
export interface MarketContent {
  readonly data: readonly ShownListing[];
  readonly next_cursor: string | null;
}

const SORTS = { calls: 'byCalls', price: 'byPrice', new: 'byAge' } as const;

/** The listings of the marketplace that fit what was looked for. */
export function marketPage(
  shell: ServiceShell,
  { data, next_cursor: next }: MarketContent,
  query: ShownSearch,
): RenderedPage {
  const { texts, places } = shell;
  const listings = data.map((it) => listingCard(shell, it));
  return servicePage(shell, {
    title: texts.marketplace,
    place: 'marketplace',
    content: markup`<h1>${texts.marketplace}</h1>
<p class="soft">${texts.marketplaceIs}</p>
${filterForm(shell, query)}
${listings.length === 0 ? markup`<p>${texts.nothingFound}</p>` : markup`<div class="grid">${listings}</div>`}
${next === null ? undefined : markup`<p><a href="${places.marketplace}?${searchOf({ ...query, cursor: next })}">${texts.more}</a></p>`}`,
  });
}

function filterForm(
  { texts, places }: ServiceShell,
  { q, tag, token, sort, min_price: from, max_price: to }: ShownSearch,
): Markup {
  const orders = (['calls', 'price', 'new'] as const).map((it) => {
    const chosen = it === sort ? markup` selected` : undefined;
    return markup`<option value="${it}"${chosen}>${texts[SORTS[it]]}</option>`;
  });
  const hidden = tag === undefined ? undefined : markup`<input type="hidden" name="tag" value="${tag}">`;
  return markup`<form class="filter" role="search" action="${places.marketplace}">
<label>${texts.search}<input type="search" name="q" value="${q}" maxlength="200"></label>
<label>${texts.token}<input name="token" value="${token}" maxlength="64"></label>
<label>${texts.priceFrom}<input name="min_price" value="${from}" inputmode="decimal" maxlength="39"></label>
<label>${texts.priceTo}<input name="max_price" value="${to}" inputmode="decimal" maxlength="39"></label>
<label>${texts.sort}<select name="sort">${orders}</select></label>
${hidden}<button>${texts.show}</button>
</form>
${tag === undefined ? undefined : markup`<p><a class="tag" href="${places.marketplace}">${tag} ✕</a></p>`}`;
}

function listingCard({ texts, payTexts, places }: ServiceShell, item: ShownListing): Markup {
  const { slug, name, description, tags, pricing, calls, price_range: range } = item;
  const { marketplace } = places;
  const text = description === null ? undefined : markup`<p class="soft">${shortened(description)}</p>`;
  const tagLinks = tags.map((it) => markup`<a class="tag" href="${marketplace}?${searchOf({ tag: it })}">${it}</a>`);
  return markup`<section class="card">
<h2><a href="${marketplace}/${encodeURIComponent(slug)}">${name}</a></h2>
${text}
<p>${tagLinks}</p>
<p class="foot row"><span><strong>${rangeOf(item, texts.language)}</strong> ${range.from === range.to ? markup`<span class="soft small">${buysOf(pricing, payTexts())}</span>` : undefined} ${item.has_free_routes ? markup`<span class="soft small">${texts.orElse} ${texts.free}</span>` : undefined}</span>
<span class="soft small">${texts.calls}: ${numberIn(texts.language, calls)}</span></p>
</section>
`;
}

const MAX_DESCRIPTION = 200;

function shortened(text: string): string {
  return text.length <= MAX_DESCRIPTION ? text : `${text.slice(0, MAX_DESCRIPTION).trimEnd()} …`;
}

function searchOf(query: Readonly<Record<string, string | number | undefined>>): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) search.set(name, String(value));
  return search.toString();
}
