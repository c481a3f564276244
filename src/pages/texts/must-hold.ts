import { amountIn, decimalIn } from './amounts.js';
import { filledWith } from './filled-with.js';
import { localeOf } from './locale.js';

/** What a wallet must hold to be let in. */
export interface MustHold {
  /** Decimal, in whole tokens or NFTs. */
  readonly amount: string;
  /** Symbol of the token, or its mint where it has none here. Default: NFTs of a collection. */
  readonly token?: string;
  /** Name of the tier that begins there. Default: it is no tier. */
  readonly tier?: string;
}

/** How it is said in one language; words in braces are put in. */
export interface MustHoldTexts {
  readonly holdersOnly: string;
  readonly holdersToo: string;
  readonly holdsTier: string;
  readonly holdsOneNft: string;
  readonly holdsNfts: string;
}

/** Whether a wallet comes in that holds nothing: it is asked to sign in, and for no more. */
export function isForAnyWallet(ways: readonly MustHold[]): boolean {
  return ways.some(({ amount }) => amount === '0');
}

/**
 * What wallets must hold, for people: `Open to wallets that hold at least 100 USDC.`
 * @param ways - any one of them is enough
 * @param isSold - whether those who hold nothing of it may pay
 * @returns undefined where there are no ways
 */
export function mustHoldInWords(
  ways: readonly MustHold[],
  texts: MustHoldTexts & { readonly language: string },
  isSold: boolean,
): string | undefined {
  if (ways.length === 0) return undefined;
  const list = new Intl.ListFormat(localeOf(texts.language), { type: 'disjunction' });
  return filledWith(isSold ? texts.holdersToo : texts.holdersOnly, {
    what: list.format(ways.map((it) => wayInWords(it, texts))),
  });
}

/** One of the ways: `10,000 USDC (tier “Gold”)`. */
export function wayInWords({ tier, ...what }: MustHold, texts: MustHoldTexts & { readonly language: string }): string {
  const held = heldInWords(what, texts);
  return tier === undefined ? held : filledWith(texts.holdsTier, { held, tier });
}

/** What is held, or has to be: `10,000 USDC`. */
export function heldInWords(
  { amount, token }: Pick<MustHold, 'amount' | 'token'>,
  texts: MustHoldTexts & { readonly language: string },
): string {
  if (token !== undefined) return amountIn(texts.language, { amount, token });
  return amount === '1' ? texts.holdsOneNft : filledWith(texts.holdsNfts, { count: decimalIn(texts.language, amount) });
}
