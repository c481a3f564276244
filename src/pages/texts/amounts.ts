import { DOLLARS } from '../../protocol/networks/tokens.js';
import { localeOf } from './locale.js';

/** An amount of a token. */
export interface Money {
  /** Exact decimal text, in whole tokens. */
  readonly amount: string;
  /** Symbol of the token, or its mint. */
  readonly token: string;
}

const CENTS = 2;
/** The most decimal places that every engine formats; what has more is told as it is written. */
const MOST_PLACES = 20;

/** A price for people: `0.10 USDC`, and `0,10 USDC` in German. Nothing is rounded. */
export function priceIn(language: string, { amount, token }: Money): string {
  return `${decimalIn(language, amount, leastPlacesOf(token))} ${token}`;
}

function leastPlacesOf(token: string): number {
  return DOLLARS.has(token) ? CENTS : 0;
}

/** The prices between two ends: `0.001–0.05 USDC`. */
export function priceRangeIn(language: string, ends: { readonly from: string; readonly to: string }, token: string) {
  const { from, to } = ends;
  return `${decimalIn(language, from, leastPlacesOf(token))}–${priceIn(language, { amount: to, token })}`;
}

/** The same of what is held or missing, where a whole amount is told without its cents: `10,000 USDC`. */
export function amountIn(language: string, { amount, token }: Money): string {
  return amount.includes('.') ? priceIn(language, { amount, token }) : `${decimalIn(language, amount)} ${token}`;
}

/**
 * A number as readers of a language write it, of exact decimal text.
 * @param leastPlaces - decimal places that it has at least
 */
export function decimalIn(language: string, text: string, leastPlaces = 0): string {
  const [whole = '', fraction = ''] = text.split('.');
  if (!/^\d+$/.test(whole) || fraction.length > MOST_PLACES) return text;
  const places = Math.max(fraction.length, leastPlaces);
  const format = new Intl.NumberFormat(localeOf(language), {
    minimumFractionDigits: places,
    maximumFractionDigits: places,
  });
  // Digits beyond those of a double: the whole ones are counted as they are, and the others stand where the format has zeros.
  return format
    .formatToParts(BigInt(whole))
    .map(({ type, value }) => (type === 'fraction' ? digitsIn(language, fraction.padEnd(places, '0')) : value))
    .join('');
}

function digitsIn(language: string, digits: string): string {
  const digit = new Intl.NumberFormat(localeOf(language), { useGrouping: false });
  return Array.from(digits, (it) => digit.format(Number(it))).join('');
}
