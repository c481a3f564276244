import { badOption } from '../../errors/errors.js';
import { wantedBy } from '../../lib/options.js';
import { formatAmount, type PriceInput, parsePrice } from '../../protocol/money/money.js';
import type { Terms, Token } from '../../protocol/types.js';
import { type Offer, type PassRule, passInWords, passOption } from './pass-option.js';
import type { Offers, Price, ResolvedPaymentOptions } from './payment-options.js';

/** What may be bought at a gate for more than one request. */
export interface SoldPasses {
  /** Each of them once. */
  readonly rules: readonly PassRule[];
  /** What a payment of these terms buys; undefined where it is one request. */
  ruleOf(terms: Pick<Terms, 'asset' | 'amount'>): PassRule | undefined;
  /** All offers in a sentence. */
  readonly inWords: string;
}

/** The prices of a list, or the one that is given. */
export function pricesOf(price: Price | Offers): readonly PriceInput[] {
  return offersOf(price).map((it) => (isOffer(it) ? it.price : it));
}

/** Whether a price says what it buys, beside one request. */
export function hasOffers(price: Price | Offers): boolean {
  return offersOf(price).some(isOffer);
}

/**
 * Reads what is sold for more than one request; undefined where nothing is.
 * @throws TollhouseError `bad_option` where that is wrong, or it is not certain what a payment buys
 */
export function readSoldPasses(
  where: string,
  { pass, price, facilitator }: Pick<ResolvedPaymentOptions, 'pass' | 'price' | 'facilitator'>,
): SoldPasses | undefined {
  const { tokens } = facilitator;
  const offers = typeof price === 'function' ? [] : offersOf(price);
  if (pass !== undefined) {
    if (offers.some(isOffer)) throw badOption(where, 'give option "pass", or a pass with each price, not both', 'pass');
    return { rules: [pass], ruleOf: () => pass, inWords: `One payment covers ${passInWords(pass)}.` };
  }
  if (!offers.some(isOffer)) return undefined;
  const byTerms = new Map<string, PassRule | undefined>();
  const words: string[] = [];
  for (const [at, offer] of offers.entries()) {
    const { asset, amount, token } = parsePrice(isOffer(offer) ? offer.price : offer, tokens, where);
    const rule = isOffer(offer) ? readRule(where, at, offer.pass) : undefined;
    const key = keyOf({ asset, amount });
    if (byTerms.has(key)) throw badOption(where, `price ${at + 1} is the same as one before it`, 'price');
    byTerms.set(key, rule);
    words.push(`${amountText(amount, asset, token)} for ${rule === undefined ? '1 request' : passInWords(rule)}`);
  }
  return {
    rules: [...byTerms.values()].filter((it) => it !== undefined),
    ruleOf: (terms) => byTerms.get(keyOf(terms)),
    inWords: `Offered are ${words.join(', or ')}.`,
  };
}

function readRule(where: string, at: number, pass: unknown): PassRule {
  const read = passOption.safeParse(pass);
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  const name = ['pass', ...(issue?.path ?? [])].join('.');
  throw badOption(where, `"${name}" of price ${at + 1} must be ${issue && wantedBy(issue)}`, 'price');
}

function offersOf(price: Price | Offers): Offers {
  return [price].flat();
}

function isOffer(it: PriceInput | Offer): it is Offer {
  return typeof it === 'object' && it !== null && 'price' in it;
}

function keyOf({ asset, amount }: Pick<Terms, 'asset' | 'amount'>): string {
  return `${asset} ${amount}`;
}

function amountText(amount: bigint, asset: string, token: Token | undefined): string {
  return token === undefined
    ? `${amount} units of ${asset}`
    : `${formatAmount(amount, token.decimals)} ${token.symbol}`;
}
