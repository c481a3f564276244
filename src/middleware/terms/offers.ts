import { badOption } from '../../errors/errors.js';
import { wantedBy } from '../../lib/options.js';
import { type ParsedPrice, type PriceInput, parsePrice } from '../../protocol/money/money.js';
import type { Terms, Token } from '../../protocol/types.js';
import {
  amountText,
  anyCreditInWords,
  checkAlike,
  checkCredit,
  creditInWords,
  readCosts,
  type SoldPass,
} from './credit-costs.js';
import { type Offer, passInWords, passOption } from './pass-option.js';
import type { Offers, Price, ResolvedPaymentOptions } from './payment-options.js';

/** What may be bought at a gate for more than one request. */
export interface SoldPasses {
  /** Each of them once. */
  readonly rules: readonly SoldPass[];
  /** What a payment of these terms buys; undefined where it is one request. */
  readonly ruleOf: (terms: Pick<Terms, 'asset' | 'amount'>) => SoldPass | undefined;
  /**
   * Makes sure that these terms can be sold, where they depend on the request: others were asked about at construction.
   * @throws TollhouseError `bad_option` where it is not certain what a request takes of credit
   */
  readonly check: (terms: Pick<Terms, 'asset' | 'amount'>) => void;
  /** What a payment of these terms buys, in words; undefined where it is one request. */
  readonly wordsFor: (terms: Pick<Terms, 'asset' | 'amount'>) => string | undefined;
  /** All offers in a sentence. */
  readonly inWords: string;
}

/** What of the options of a gate says what is sold. */
type SoldOptions = Partial<Pick<ResolvedPaymentOptions, 'pass'>> &
  Pick<ResolvedPaymentOptions, 'price' | 'settle'> & {
    readonly facilitator: Pick<ResolvedPaymentOptions['facilitator'], 'tokens'>;
  };

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
export function readSoldPasses(where: string, options: SoldOptions): SoldPasses | undefined {
  const { pass, price, facilitator } = options;
  const { tokens } = facilitator;
  const offers = typeof price === 'function' ? [] : offersOf(price);
  if (pass !== undefined) {
    if (offers.some(isOffer)) throw badOption(where, 'give option "pass", or a pass with each price, not both', 'pass');
    const rule = { ...pass, byMint: readCosts(where, pass, tokens, 'option "pass"') };
    const prices = offers.map((it) => parsePrice(isOffer(it) ? it.price : it, tokens, where));
    return soldPasses(where, options, [rule], () => rule, onePayment(rule, prices, tokens));
  }
  if (!offers.some(isOffer)) return undefined;
  const byTerms = new Map<string, SoldPass | undefined>();
  const words: string[] = [];
  for (const [at, offer] of offers.entries()) {
    const price = parsePrice(isOffer(offer) ? offer.price : offer, tokens, where);
    const rule = isOffer(offer) ? readRule(where, at, offer.pass, tokens) : undefined;
    const key = keyOf(price);
    if (byTerms.has(key)) throw badOption(where, `price ${at + 1} is the same as one before it`, 'price');
    byTerms.set(key, rule);
    words.push(offerInWords(rule, price, tokens));
  }
  const rules = [...byTerms.values()].filter((it) => it !== undefined);
  return soldPasses(where, options, rules, (terms) => byTerms.get(keyOf(terms)), `Offered are ${words.join(', or ')}.`);
}

/** @throws TollhouseError `bad_option` where it is not certain what a request takes of credit */
function soldPasses(
  where: string,
  { price, facilitator: { tokens }, settle }: SoldOptions,
  rules: readonly SoldPass[],
  ruleOf: SoldPasses['ruleOf'],
  inWords: string,
): SoldPasses {
  const check: SoldPasses['check'] = (terms) => {
    const { byMint } = ruleOf(terms) ?? {};
    if (byMint !== undefined) checkCredit(where, byMint, terms, tokens);
  };
  checkAlike(where, rules);
  if (typeof price !== 'function') for (const it of pricesOf(price)) check(parsePrice(it, tokens, where));
  if (settle === 'after' && rules.some(({ stream }) => stream)) {
    throw badOption(
      where,
      'credit for streams, "stream: true" of a pass, is paid first: add settle: "before"',
      'settle',
    );
  }
  const wordsFor: SoldPasses['wordsFor'] = (terms) => {
    const rule = ruleOf(terms);
    if (rule?.byMint !== undefined) return creditInWords(rule, rule.byMint, terms, tokens);
    return rule && passInWords(rule);
  };
  return { rules, ruleOf, check, wordsFor, inWords };
}

function onePayment(rule: SoldPass, prices: readonly ParsedPrice[], tokens: readonly Token[]): string {
  const { byMint } = rule;
  if (byMint === undefined) return `One payment covers ${passInWords(rule)}.`;
  const bought = prices.map((it) => creditInWords(rule, byMint, it, tokens));
  return `One payment buys ${bought.length > 0 ? bought.join(', or ') : anyCreditInWords(rule, byMint, tokens)}.`;
}

function offerInWords(rule: SoldPass | undefined, price: ParsedPrice, tokens: readonly Token[]): string {
  if (rule?.byMint !== undefined) return creditInWords(rule, rule.byMint, price, tokens);
  const text = amountText(price.amount, price.asset, tokens);
  return `${text} for ${rule === undefined ? '1 request' : passInWords(rule)}`;
}

function readRule(where: string, at: number, pass: unknown, tokens: readonly Token[]): SoldPass {
  const read = passOption.safeParse(pass);
  if (read.success) return { ...read.data, byMint: readCosts(where, read.data, tokens, `price ${at + 1}`) };
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
