import type { ErrorCode } from '../../errors/errors.js';
import { defined } from '../../lib/defined.js';
import type { Resource } from '../../protocol/challenge.js';
import type { NetworkId } from '../../protocol/types.js';
import type { PageBrand } from '../layout/page-brand.js';
import { type Bought, boughtInWords } from '../texts/bought.js';
import type { PageTexts } from '../texts/page-texts.js';
import { refusalHeading, refusalInWords, type ToldRefusal } from '../texts/refusals/lack.js';
import { shortened } from '../texts/shortened.js';
import type { PageFact, PageOffer, PageRequest, PageSignIn, PaywallData } from './paywall-data.js';

/** An offer with what is told of it beside its price. */
export interface ShownOffer extends PageOffer {
  /** What it buys, where that is more than one request. */
  readonly bought?: Bought | undefined;
  /** Wallet that receives, base58. */
  readonly payTo: string;
}

/** Why an earlier payment or a sign-in opened nothing. */
export interface ToldProblem extends ToldRefusal {
  /** The reason of the protocol, where that says more than the code. */
  readonly reason?: string | undefined;
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
  /** What else is to be said of the offers, or what a wallet may hold to be let in by a sign-in; in sentences. */
  readonly note?: string | undefined;
  /** Why an earlier payment or a sign-in opened nothing. */
  readonly problem?: ToldProblem | undefined;
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

/** What the script of a paywall page works with. */
export function paywallDataOf(content: PaywallContent): PaywallData {
  const { texts, network, offers, request, isUpfront, isWaiting = false, problem, outage, signIn } = content;
  const [networkName, chain] = WALLET_NETWORKS[network];
  return {
    ...{ request, chain, networkName, isUpfront, isWaiting, texts: texts.state, reasons: texts.reasons },
    offers: offers.map((it) => pageOffer(it, content)),
    ...(outage === undefined ? {} : { isOutage: true }),
    ...defined({ signIn, problem: problem?.code }),
  };
}

/** What the script is told of an offer. */
export function pageOffer(
  { asset, amount, price, token, bought }: ShownOffer,
  { request, resource }: Pick<PaywallContent, 'request' | 'resource'>,
): PageOffer {
  const passFor = bought?.group === undefined ? `path ${pathOf(resource.url)}` : `group ${bought.group}`;
  return { asset, amount, price, token, turn: bought === undefined ? `request ${request.key}` : passFor };
}

function pathOf(url: string): string {
  return URL.canParse(url) ? new URL(url).pathname : url;
}

/** What an offer buys, as its reader is told. */
export function buysInWords({ bought }: ShownOffer, texts: PageTexts): string {
  return bought === undefined ? texts.oneRequest : boughtInWords(bought, texts);
}

/** What is said of an outage; undefined where there is none. */
export function outageInWords({ texts, outage }: PaywallContent): string | undefined {
  if (outage === undefined) return undefined;
  if (outage === 'not_configured') return texts.reasons.notSetUp;
  return outage === 'fee_limit_reached' ? texts.noMoreThisHour : texts.tryLater;
}

/** Why an earlier payment or a sign-in opened nothing, as its reader is told; undefined where nothing is wrong. */
export function problemInWords({ texts, problem }: PaywallContent): string | undefined {
  if (problem === undefined) return undefined;
  const { code, reason = code, detail, lack } = problem;
  return refusalInWords({ code: reason, detail, lack }, texts);
}

/** What a page is headed by. */
export function headingOf({ texts, resource, offers, isWaiting, problem, outage }: PaywallContent): string {
  if (outage === 'not_configured') return texts.notSetUpYet;
  if (outage !== undefined) return texts.unavailable;
  if (isWaiting) return texts.waiting;
  const noOffer = problem === undefined ? texts.signInRequired : refusalHeading(problem, texts);
  return resource.description ?? (offers.length === 0 ? noOffer : texts.hasPrice);
}

/** What a page tells of its offers beside their prices: none where nothing is sold. */
export function factsOf({ offers, texts, isFeePaid, network }: PaywallContent): readonly PageFact[] {
  if (offers.length === 0) return [];
  const wallets = [...new Set(offers.map(({ payTo }) => payTo))];
  return [
    ...wallets.map((it) => ({ name: texts.paidTo, value: shortened(it), title: it })),
    { name: texts.network, value: WALLET_NETWORKS[network][0] },
    { name: texts.fee, value: isFeePaid ? texts.feeOurs : texts.feeYours },
  ];
}
