import type { Request } from 'express';
import type { MaybePromise } from '../../lib/maybe-promise.js';
import type { NetworkId } from '../../protocol/types.js';
import type { PageTexts } from '../texts/page-texts.js';

/** A price that a page of one's own shows. */
export interface PaywallOffer {
  /** For people: `0.01 USDC`. */
  readonly price: string;
  /** Symbol of the token, or its mint. */
  readonly token: string;
  /** Mint, base58. */
  readonly asset: string;
  /** Atomic units, decimal. */
  readonly amount: string;
  /** What it buys, in words. */
  readonly buys: string;
  /** Wallet that receives, base58. */
  readonly payTo: string;
}

/**
 * What a page of one's own is told. All of it is text, to be escaped in HTML (the address and the problem hold what a client has
 * sent), but for `card`, `style` and `script`, which are markup.
 */
export interface PaywallTerms {
  /** Absolute address of what was asked for. */
  readonly url: string;
  /** What is sold, as the gate's `description` says it. */
  readonly description?: string;
  readonly network: NetworkId;
  /** The network as people call it. */
  readonly networkName: string;
  /** Any one of them opens the gate; none where only a sign-in does, or while a payment is being decided about. */
  readonly offers: readonly PaywallOffer[];
  /** Whether a wallet can sign in here, and so come in without paying, or for less. */
  readonly canSignIn: boolean;
  /** Whether the seller pays the network fee. */
  readonly isFeePaid: boolean;
  /** Whether a payment for this is being decided about; the script asks again by itself. */
  readonly isWaiting: boolean;
  /** What else is to be said of the offers, or what a wallet may hold to be let in by a sign-in; in sentences. */
  readonly note?: string;
  /** Why an earlier payment or a sign-in opened nothing: a code, and a sentence. */
  readonly problem?: { readonly code: string; readonly detail: string };
  /** Why nothing can be decided at the moment, in a sentence; then there are no offers, and the answer is 503. */
  readonly outage?: string;
  /** The reader's language, as in BCP 47, among those that there are texts in. */
  readonly language: string;
  /** The texts of the built-in page in that language. */
  readonly texts: PageTexts;
  /** Lets styles and scripts of this one response in: `<style nonce="…">`, `<link rel="stylesheet" nonce="…">`. */
  readonly nonce: string;
  /** Markup of the terms as the built-in page shows them. */
  readonly card: string;
  /** The style element of the built-in page, in the colours of `page`. */
  readonly style: string;
  /**
   * The script element of the built-in page, which belongs at the end of the body. It fills the elements with the ids `action` (buttons)
   * and `status` (how things stand), and where there are several offers takes the one of `input[name=offer]:checked`, whose value is
   * its number from 0. They are in `card`.
   */
  readonly script: string;
}

/** A page of one's own with a policy of its own. */
export interface OwnPage {
  /** At most 1,000,000 characters. */
  readonly html: string;
  /** Value of `Content-Security-Policy`. Default: that of the built-in page. */
  readonly contentSecurityPolicy?: string;
}

/** Writes a page in the place of the built-in one: its HTML, or that with a policy, or a promise of either. */
export type RenderPaywall = (terms: PaywallTerms, req: Request) => MaybePromise<string | OwnPage>;
