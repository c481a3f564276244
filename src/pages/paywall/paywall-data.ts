import type { PaywallStateTexts } from '../texts/page-texts.js';
import type { ReasonTexts } from '../texts/refusals/refusal-texts.js';

/** Media type of {@link ElementData}: whoever names it in `Accept` gets that in the place of a paywall page. */
export const PAYWALL_TYPE = 'application/vnd.tollhouse.paywall+json';

/** A price as the page shows it. */
export interface PageOffer {
  /** Mint, base58. */
  readonly asset: string;
  /** Atomic units, decimal. */
  readonly amount: string;
  /** For people: `0.01 USDC`. */
  readonly price: string;
  /** Symbol of the token, or its mint. */
  readonly token: string;
  /** Name of what it buys, on this site: tabs of one browser take turns at paying for the same. Default: none waits for another. */
  readonly turn?: string;
}

/** The request that was answered with the page, to be sent again. */
export interface PageRequest {
  readonly method: string;
  /** The same for the same request. */
  readonly key: string;
  /** What it carried. Missing where there was nothing, or it was lost. */
  readonly body?: { readonly type: string; readonly base64: string };
  /** Whether what it carried is lost, being too large to come back or read by somebody else: sent again it would be another one. Default: no. */
  readonly isIncomplete?: boolean;
  /** Where it is sent. Default: to the page's own address. */
  readonly url?: string;
  /** Headers beside those of a browser. Default: none. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Where cookies go along. Default: to the page's own origin. */
  readonly credentials?: 'omit' | 'same-origin' | 'include';
}

/** A sign-in that the server takes, as x402's extension `sign-in-with-x` asks for it. */
export interface PageSignIn {
  readonly chainId: string;
  readonly info: Readonly<Record<string, unknown>>;
}

/** What the script of a paywall page works with. */
export interface PaywallData {
  readonly request: PageRequest;
  /** The chain as Wallet Standard names it. */
  readonly chain: string;
  readonly networkName: string;
  readonly offers: readonly PageOffer[];
  /** Whether the money is taken before the answer begins: then it is had by going there, and not by a script. */
  readonly isUpfront: boolean;
  /** Whether a payment for this is being decided about: the page asks again by itself. */
  readonly isWaiting: boolean;
  /** Whether nothing can be decided at the moment. Default: no. */
  readonly isOutage?: boolean;
  readonly signIn?: PageSignIn;
  /** Why an earlier payment opened nothing: a code. */
  readonly problem?: string;
  readonly texts: PaywallStateTexts;
  readonly reasons: ReasonTexts;
}

/** Something told of offers beside their prices. */
export interface PageFact {
  readonly name: string;
  readonly value: string;
  /** The value in full, where it was shortened. */
  readonly title?: string;
}

/** The terms of a gate for an element in a site's own page: what a page's script works with, and what the page shows. */
export interface ElementData extends PaywallData {
  readonly heading: string;
  readonly offers: readonly ElementOffer[];
  readonly facts: readonly PageFact[];
  /** What a choice of offers is headed by. */
  readonly choose: string;
  /** What else is to be said of the offers, in a sentence. */
  readonly note?: string;
  /** Why an earlier payment or a sign-in opened nothing, in a sentence. */
  readonly detail?: string;
}

/** An offer as an element shows it. */
export interface ElementOffer extends PageOffer {
  /** What it buys, in words. */
  readonly buys: string;
}
