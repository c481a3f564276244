import type { BoughtTexts } from './bought.js';
import type { MustHoldTexts } from './must-hold.js';
import type { ReasonTexts, RefusalTexts } from './refusals/refusal-texts.js';

/** What the script of a paywall page says; words in braces are put in by it. */
export interface PaywallStateTexts {
  readonly payWith: string;
  readonly signInWith: string;
  readonly noWallet: string;
  /** In its place where wallets open the page. */
  readonly noWalletOnPhone: string;
  readonly getWallet: string;
  readonly openIn: string;
  readonly connecting: string;
  readonly preparing: string;
  readonly confirm: string;
  readonly settling: string;
  readonly pending: string;
  readonly away: string;
  readonly declined: string;
  /** The same of a sign-in. */
  readonly notSigned: string;
  readonly wrongNetwork: string;
  readonly notEnough: string;
  readonly noToken: string;
  readonly renewed: string;
  readonly priceChanged: string;
  readonly refused: string;
  readonly notPrepared: string;
  readonly siteFailed: string;
  readonly alreadyPaid: string;
  readonly opening: string;
  readonly lost: string;
  readonly paidBefore: string;
  readonly signing: string;
  readonly signInFailed: string;
  readonly notSignedOut: string;
  readonly formLost: string;
  readonly needsCookies: string;
  readonly paidHere: string;
  readonly paidDone: string;
  readonly save: string;
  readonly comeIn: string;
  readonly otherTab: string;
  readonly otherTabDone: string;
  readonly tryAgain: string;
  readonly checkAgain: string;
  readonly otherWallet: string;
}

/** All that pages for people say, in one language. */
export interface PageTexts extends BoughtTexts, MustHoldTexts {
  /** As in BCP 47. */
  readonly language: string;
  readonly paymentRequired: string;
  readonly hasPrice: string;
  readonly signInRequired: string;
  /** In the place of it, where a wallet need not hold anything. */
  readonly anyWallet: string;
  readonly tooLittle: string;
  readonly waiting: string;
  readonly unavailable: string;
  /** Heads a page of a site whose operator has not told it its name. */
  readonly notSetUpYet: string;
  readonly tryLater: string;
  readonly noMoreThisHour: string;
  /** Where passes are sold, and a sign-in is taken in their place. */
  readonly boughtBefore: string;
  readonly choose: string;
  readonly oneRequest: string;
  readonly paidTo: string;
  readonly network: string;
  readonly fee: string;
  readonly feeOurs: string;
  readonly feeYours: string;
  readonly signOut: string;
  readonly otherWays: string;
  readonly byProgram: string;
  readonly needsScript: string;
  /** Where nothing is sold. */
  readonly signInNeedsScript: string;
  /** Of a wallet that is not let in. */
  readonly refusals: RefusalTexts;
  /** Of a payment or a sign-in that opened nothing. */
  readonly reasons: ReasonTexts;
  readonly state: PaywallStateTexts;
}
