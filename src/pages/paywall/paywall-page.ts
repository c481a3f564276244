import { PAYWALL_SCRIPT } from '../client-scripts.js';
import { escapeHtml } from '../layout/escape-html.js';
import { type PageTags, pageTags, type RenderedPage, renderPage } from '../layout/page.js';
import { brandHeader } from '../layout/page-brand.js';
import { factsOf, headingOf, type PaywallContent, paywallDataOf, type ShownOffer } from './paywall-content.js';
import { PAYWALL_STYLE } from './paywall-style.js';

/** What a page consists of that is written around the terms by somebody else. */
export interface PaywallPieces extends PageTags {
  /** Markup of the terms, with the places that the script fills. */
  readonly card: string;
}

/** The page that a browser gets in the place of what has a price: it shows the terms, and its script pays them. */
export function paywallPage(content: PaywallContent): RenderedPage {
  const { texts, brand, offers } = content;
  const body = `<main>
${brandHeader(brand)}${cardOf(content)}${otherWays(content)}</main>`;
  const title = offers.length === 0 ? headingOf(content) : texts.paymentRequired;
  return renderPage({ language: texts.language, title, body, ...partsOf(content) });
}

/** The pieces of the page, for a page of the seller's own. */
export function paywallPieces(content: PaywallContent): PaywallPieces {
  return { ...pageTags(partsOf(content)), card: cardOf(content) };
}

function partsOf(content: PaywallContent) {
  return { brand: content.brand, style: PAYWALL_STYLE, script: PAYWALL_SCRIPT, data: paywallDataOf(content) };
}

function cardOf(content: PaywallContent): string {
  const { texts, problem } = content;
  return `<div class="card">
<h1>${escapeHtml(headingOf(content))}</h1>
${problem === undefined ? '' : `<p class="problem">${escapeHtml(problem.detail)}</p>\n`}${offerList(content)}${facts(content)}<div id="action" role="group"></div>
<p id="status" role="status"></p>
<noscript><p class="soft">${escapeHtml(texts.needsScript)}</p></noscript>
</div>
`;
}

function offerList({ offers, texts }: PaywallContent): string {
  const [only] = offers;
  if (only === undefined) return '';
  const words = ({ price, buys }: ShownOffer) =>
    `<strong class="price">${escapeHtml(price)}</strong> <span class="soft">${escapeHtml(buys ?? texts.oneRequest)}</span>`;
  if (offers.length === 1) return `<p>${words(only)}</p>\n`;
  const choices = offers.map(
    (offer, at) =>
      `<label class="offer"><input type="radio" name="offer" value="${at}"${at === 0 ? ' checked' : ''}><span>${words(offer)}</span></label>\n`,
  );
  return `<fieldset><legend>${escapeHtml(texts.choose)}</legend>\n${choices.join('')}</fieldset>\n`;
}

function facts(content: PaywallContent): string {
  const { note } = content;
  const told = note === undefined ? '' : `<p class="soft small">${escapeHtml(note)}</p>\n`;
  const list = factsOf(content).map(({ name, value, title }) => {
    const hint = title === undefined ? '' : ` title="${escapeHtml(title)}"`;
    return `<dt>${escapeHtml(name)}</dt><dd${hint}>${escapeHtml(value)}</dd>`;
  });
  return list.length === 0 ? told : `${told}<dl>${list.join('\n')}</dl>\n`;
}

function otherWays({ offers, texts, resource }: PaywallContent): string {
  if (offers.length === 0) return '';
  return `<details class="small soft"><summary>${escapeHtml(texts.otherWays)}</summary>
<p>${escapeHtml(texts.byProgram)}</p>
<pre>npx tollhouse pay ${escapeHtml(shellQuoted(resource.url))} --keypair wallet.json</pre>
</details>
`;
}

/** A URL as one word of a shell: the client chose it, and somebody pastes it. */
function shellQuoted(url: string): string {
  return `'${url.replaceAll("'", '%27')}'`;
}
