import { type Markup, markup } from '../layout/markup.js';
import { WALLET_NETWORKS } from '../paywall/paywall-content.js';
import type { ServiceShell } from '../service/service-page.js';
import { priceIn } from '../texts/amounts.js';
import { allPrices, buysOf, type ShownListing } from './shown-listing.js';
import type { TryData } from './try-data.js';

/** The place where a listing is tried; the script of the page shows it, as it does nothing by itself. */
export function tryIt(shell: ServiceShell, listing: ShownListing): Markup {
  const { texts } = shell;
  const field = (name: string, label: string) =>
    markup`<label>${label}<input data-credential="${name}" type="password" autocomplete="off" spellcheck="false"></label>
`;
  return markup`<section class="card" id="try" hidden><h2>${texts.tryOut}</h2>
<p class="soft small">${texts.tryItNote}</p>
<div class="fields">${field('X-Service-Key', texts.serviceKey)}${field('X-Service-Secret', texts.serviceSecret)}</div>
<p class="soft small">${texts.credentialsNote}</p>
${choiceOf(shell, listing.example)}
<div id="action" role="group" aria-label="${texts.tryOut}"></div>
<p id="status" role="status"></p>
<div id="answer"></div></section>`;
}

/** Which of several prices is paid. */
function choiceOf({ payTexts }: ServiceShell, { pricing }: ShownListing['example']): Markup | undefined {
  const prices = pricing === null ? [] : allPrices(pricing);
  if (prices.length < 2) return undefined;
  const texts = payTexts();
  const choices = prices.map((it, at) => {
    const chosen = at === 0 ? markup` checked` : undefined;
    return markup`<label class="offer"><input type="radio" name="offer" value="${at}"${chosen}><span><strong>${priceIn(texts.language, it)}</strong> ${buysOf(it, texts)}</span></label>
`;
  });
  return markup`<fieldset><legend>${texts.choose}</legend>
${choices}</fieldset>`;
}

/**
 * What the script works with; undefined where there is nothing to be paid, and where the address of the call is none below the
 * listing's: it gets the reader's credentials.
 */
export function tryDataOf({ texts, payTexts }: ServiceShell, listing: ShownListing): TryData | undefined {
  const { slug, example, pricing } = listing;
  if (example.pricing === null || listing.status === 'down') return undefined;
  if (!URL.canParse(example.url) || !URL.canParse(listing.url)) return undefined;
  const { pathname, search } = new URL(example.url);
  const base = new URL(listing.url).pathname;
  if (pathname !== base && !pathname.startsWith(`${base}/`)) return undefined;
  const [networkName, chain] = WALLET_NETWORKS[pricing.network];
  const { status, headers, body, cut } = texts;
  return {
    request: { method: example.method, key: `try ${slug}`, url: pathname + search, ...bodyOf(example) },
    ...{ chain, networkName, isUpfront: false, isWaiting: false },
    offers: allPrices(example.pricing).map((it) => ({
      ...{ asset: it.mint, amount: it.amount_atomic },
      ...{ price: priceIn(texts.language, it), token: it.token },
    })),
    texts: payTexts().state,
    reasons: payTexts().reasons,
    answer: { status, headers, body, cut },
  };
}

/** Browsers send none with GET and HEAD. */
function bodyOf({ method, body }: ShownListing['example']) {
  if (body === null || method === 'GET' || method === 'HEAD') return {};
  return { body: { type: 'application/json', base64: Buffer.from(JSON.stringify(body)).toString('base64') } };
}
