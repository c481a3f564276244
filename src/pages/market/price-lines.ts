import { type Markup, markup } from '../layout/markup.js';
import { numberIn } from '../service/in-words.js';
import type { ServiceShell } from '../service/service-page.js';
import { priceIn } from '../texts/amounts.js';
import { filledWith } from '../texts/filled-with.js';
import { allPrices, buysOf, type ShownListing, type ShownPrices } from './shown-listing.js';

/** What some calls cost: a line for each price, or that they are free. */
export function priceLines({ texts, payTexts }: ServiceShell, prices: ShownPrices | null): readonly Markup[] {
  if (prices === null) return [markup`<p><strong class="price">${texts.free}</strong></p>`];
  return allPrices(prices).map(
    (it, at) =>
      markup`<p>${at === 0 ? undefined : `${texts.orElse} `}<strong class="price">${priceIn(texts.language, it)}</strong> <span class="soft">${buysOf(it, payTexts())}</span></p>`,
  );
}

const PER_WINDOW = { hour: 'perHour', day: 'perDay', month: 'perMonth' } as const;

/** What each key has without paying; undefined where that is nothing. */
export function freeCallsLine({ texts }: ServiceShell, free: ShownListing['free_calls']): Markup | undefined {
  if (free === null) return undefined;
  const said = filledWith(texts[PER_WINDOW[free.window]], { count: numberIn(texts.language, free.count) });
  return markup`<p class="soft">${said}</p>`;
}
