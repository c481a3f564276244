import { priceIn } from '../../pages/texts/amounts.js';
import { formatAmount } from '../../protocol/money/money.js';
import type { Terms, Token } from '../../protocol/types.js';

/** A price as people read it, and what it is in atomic units. */
export interface ShownPrice {
  /** Mint, base58. */
  readonly asset: string;
  /** Atomic units, decimal. */
  readonly amount: string;
  /** For people: `0.10 USDC`, in German `0,10 USDC`. */
  readonly price: string;
  /** Symbol of the token, or its mint. */
  readonly token: string;
}

/** The price of some terms for people who read a language. */
export function shownPrice(
  { asset, amount }: Pick<Terms, 'asset' | 'amount'>,
  tokens: readonly Token[],
  language: string,
): ShownPrice {
  const token = tokens.find(({ mint }) => mint === asset);
  const price =
    token === undefined
      ? `${amount} units of ${asset}`
      : priceIn(language, { amount: formatAmount(amount, token.decimals), token: token.symbol });
  return { asset, amount: String(amount), price, token: token?.symbol ?? asset };
}
