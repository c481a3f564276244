import { PAYWALL_SCRIPT } from '../client-scripts.js';
import { escapeHtml } from '../layout/escape-html.js';
import { type PageTags, pageTags, type RenderedPage, renderPage } from '../layout/page.js';
import { brandHeader } from '../layout/page-brand.js';
import {
  buysInWords,
  factsOf,
  headingOf,
  outageInWords,
  type PaywallContent,
  paywallDataOf,
  problemInWords,
  type ShownOffer,
} from './paywall-content.js';
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
  const { texts, isKnown } = content;
  const problem = problemInWords(content);
  return `<div class="card">
<h1>${escapeHtml(headingOf(content))}</h1>
${problem === undefined ? '' : `<p class="problem">${escapeHtml(problem)}</p>\n`}${outageText(content)}${offerList(content)}${facts(content)}<p id="status" role="status"></p>
<div id="action" role="group"></div>
<noscript>${withoutScript(content)}</noscript>
${isKnown ? `<button id="forget" class="plain" type="button" hidden>${escapeHtml(texts.signOut)}</button>\n` : ''}</div>
`;
}

function outageText(content: PaywallContent): string {
  const text = outageInWords(content);
  if (text === undefined) return '';
  return `<p>${escapeHtml(text)}</p>\n<p class="soft small"><code>${content.outage}</code></p>\n`;
}

function withoutScript({ texts, outage, offers, request }: PaywallContent): string {
  const needed = offers.length === 0 ? texts.signInNeedsScript : texts.needsScript;
  if (outage === undefined) return `<p class="soft">${escapeHtml(needed)}</p>`;
  return request.method === 'GET' ? `<a class="button" href="">${escapeHtml(texts.state.tryAgain)}</a>` : '';
}

function offerList({ offers, texts }: PaywallContent): string {
  const [only] = offers;
  if (only === undefined) return '';
  const words = (offer: ShownOffer) =>
    `<strong class="price">${escapeHtml(offer.price)}</strong> <span class="soft">${escapeHtml(buysInWords(offer, texts))}</span>`;
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
