import type { ErrorCode } from '../../errors/errors.js';
import type { Resource } from '../../protocol/challenge.js';
import type { NetworkId } from '../../protocol/types.js';
import { PAYWALL_SCRIPT } from '../client-scripts.js';
import { escapeHtml } from '../layout/escape-html.js';
import { type RenderedPage, renderPage } from '../layout/page.js';
import { brandHeader, type PageBrand } from '../layout/page-brand.js';
import { type Bought, boughtInWords } from '../texts/bought.js';
import type { PageTexts } from '../texts/page-texts.js';
import type { PageOffer, PageRequest, PageSignIn, PaywallData } from './paywall-data.js';
import { PAYWALL_STYLE } from './paywall-style.js';

/** An offer with what is told of it beside its price. */
export interface ShownOffer extends PageOffer {
  /** What it buys, where that is more than one request. */
  readonly bought?: Bought | undefined;
  /** Wallet that receives, base58. */
  readonly payTo: string;
}

/** What a paywall page shows. */
export interface PaywallContent {
  readonly texts: PageTexts;
  readonly brand: PageBrand;
  readonly resource: Pick<Resource, 'url' | 'description'>;
  readonly network: NetworkId;
  readonly request: PageRequest;
  /** Any one of them opens the door; none where only a sign-in does. */
  readonly offers: readonly ShownOffer[];
  readonly isUpfront: boolean;
  readonly isWaiting?: boolean;
  /** Whether the seller pays the network fee. */
  readonly isFeePaid: boolean;
  /** What else is to be said of the offers, in a sentence. */
  readonly note?: string | undefined;
  /** Why an earlier payment or a sign-in opened nothing. */
  readonly problem?: { readonly code: string; readonly detail: string } | undefined;
  /** Why nothing can be decided at the moment; then there are no offers. */
  readonly outage?: ErrorCode | undefined;
  readonly signIn?: PageSignIn | undefined;
  /** Whether the browser keeps a sign-in or a pass, which its reader may want forgotten. Default: no. */
  readonly isKnown?: boolean;
}

/** Networks as people call them, and as Wallet Standard does. */
export const WALLET_NETWORKS: Readonly<Record<NetworkId, readonly [name: string, chain: string]>> = {
  solana: ['Solana', 'solana:mainnet'],
  'solana-devnet': ['Solana devnet', 'solana:devnet'],
  'solana-testnet': ['Solana testnet', 'solana:testnet'],
};

/** The page that a browser gets in the place of what has a price: it shows the terms, and its script pays them. */
export function paywallPage(content: PaywallContent): RenderedPage {
  const { texts, brand, network, offers, request, isUpfront, isWaiting = false, problem, outage, signIn } = content;
  const [networkName, chain] = WALLET_NETWORKS[network];
  const heading = headingOf(content);
  const data: PaywallData = {
    ...{ request, chain, networkName, isUpfront, isWaiting, texts: texts.state },
    offers: offers.map((it) => pageOffer(it, content)),
    ...(outage === undefined ? {} : { isOutage: true }),
    ...(signIn === undefined ? {} : { signIn }),
    ...(problem === undefined ? {} : { problem: problem.code }),
  };
  const body = `<main>
${brandHeader(brand)}<div class="card">
<h1>${escapeHtml(heading)}</h1>
${problem === undefined ? '' : `<p class="problem">${escapeHtml(problem.detail)}</p>\n`}${outageText(content)}${offerList(content)}${facts(content, networkName)}<div id="action" role="group"></div>
<p id="status" role="status"></p>
<noscript>${withoutScript(content)}</noscript>
${content.isKnown ? `<button id="forget" class="plain" type="button" hidden>${escapeHtml(texts.signOut)}</button>\n` : ''}</div>
${otherWays(content)}</main>`;
  const title = offers.length === 0 ? heading : texts.paymentRequired;
  const style = PAYWALL_STYLE;
  return renderPage({ language: texts.language, title, brand, body, style, script: PAYWALL_SCRIPT, data });
}

function pageOffer(
  { asset, amount, price, token, bought }: ShownOffer,
  { request, resource }: Pick<PaywallContent, 'request' | 'resource'>,
): PageOffer {
  const passFor = bought?.group === undefined ? `path ${pathOf(resource.url)}` : `group ${bought.group}`;
  return { asset, amount, price, token, turn: bought === undefined ? `request ${request.key}` : passFor };
}

function pathOf(url: string): string {
  return URL.canParse(url) ? new URL(url).pathname : url;
}

function outageText({ texts, outage }: PaywallContent): string {
  if (outage === undefined) return '';
  const text = outage === 'fee_limit_reached' ? texts.noMoreThisHour : texts.tryLater;
  return `<p>${escapeHtml(text)}</p>\n<p class="soft small"><code>${outage}</code></p>\n`;
}

function withoutScript({ texts, outage, request }: PaywallContent): string {
  if (outage === undefined) return `<p class="soft">${escapeHtml(texts.needsScript)}</p>`;
  return request.method === 'GET' ? `<a class="button" href="">${escapeHtml(texts.state.tryAgain)}</a>` : '';
}

function headingOf({ texts, resource, offers, isWaiting, problem, outage }: PaywallContent): string {
  if (outage !== undefined) return texts.unavailable;
  if (isWaiting) return texts.waiting;
  const noOffer = problem === undefined ? texts.signInRequired : texts.tooLittle;
  return resource.description ?? (offers.length === 0 ? noOffer : texts.hasPrice);
}

function offerList({ offers, texts }: PaywallContent): string {
  const [only] = offers;
  if (only === undefined) return '';
  const words = ({ price, bought }: ShownOffer) => {
    const buys = bought === undefined ? texts.oneRequest : boughtInWords(bought, texts);
    return `<strong class="price">${escapeHtml(price)}</strong> <span class="soft">${escapeHtml(buys)}</span>`;
  };
  if (offers.length === 1) return `<p>${words(only)}</p>\n`;
  const choices = offers.map(
    (offer, at) =>
      `<label class="offer"><input type="radio" name="offer" value="${at}"${at === 0 ? ' checked' : ''}><span>${words(offer)}</span></label>\n`,
  );
  return `<fieldset><legend>${escapeHtml(texts.choose)}</legend>\n${choices.join('')}</fieldset>\n`;
}

function facts({ offers, texts, isFeePaid, note }: PaywallContent, networkName: string): string {
  const told = note === undefined ? '' : `<p class="soft small">${escapeHtml(note)}</p>\n`;
  if (offers.length === 0) return told;
  const wallets = [...new Set(offers.map(({ payTo }) => payTo))];
  const rows = [
    ...wallets.map((it) => [texts.paidTo, shortened(it), it] as const),
    [texts.network, networkName, ''] as const,
    [texts.fee, isFeePaid ? texts.feeOurs : texts.feeYours, ''] as const,
  ];
  const list = rows.map(([name, value, title]) => {
    const hint = title === '' ? '' : ` title="${escapeHtml(title)}"`;
    return `<dt>${escapeHtml(name)}</dt><dd${hint}>${escapeHtml(value)}</dd>`;
  });
  return `${told}<dl>${list.join('\n')}</dl>\n`;
}

function otherWays({ offers, texts, resource }: PaywallContent): string {
  if (offers.length === 0) return '';
  return `<details class="small soft"><summary>${escapeHtml(texts.otherWays)}</summary>
<p>${escapeHtml(texts.byProgram)}</p>
<pre>npx tollhouse pay ${escapeHtml(shellQuoted(resource.url))} --keypair wallet.json</pre>
</details>
`;
}

/** As much of an address as people compare. */
function shortened(address: string): string {
  return address.length <= 12 ? address : `${address.slice(0, 5)}…${address.slice(-5)}`;
}

/** A URL as one word of a shell: the client chose it, and somebody pastes it. */
function shellQuoted(url: string): string {
  return `'${url.replaceAll("'", '%27')}'`;
}
