import type { PaywallStateTexts } from '../texts/page-texts.js';

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
  /** What it carried. Missing where there was nothing, or it was too large to come back. */
  readonly body?: { readonly type: string; readonly base64: string };
  /** Where on this site it is sent. Default: to the page's own address. */
  readonly url?: string;
  /** Headers beside those of a browser. Default: none. */
  readonly headers?: Readonly<Record<string, string>>;
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
}
