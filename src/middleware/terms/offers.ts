import { badOption } from '../../errors/errors.js';
import { wantedBy } from '../../lib/options.js';
import type { Bought } from '../../pages/texts/bought.js';
import { EN } from '../../pages/texts/en.js';
import { type ParsedPrice, type PriceInput, parsePrice } from '../../protocol/money/money.js';
import type { Terms, Token } from '../../protocol/types.js';
import { amountText, checkAlike, checkCredit, readCosts, type SoldPass } from './credit-costs.js';
import { type Offer, passOption } from './pass-option.js';
import { boughtBy, passInWords } from './pass-words.js';
import type { Offers, Price, ResolvedPaymentOptions } from './payment-options.js';

/** What may be bought at a gate for more than one request. */
export interface SoldPasses {
  /** Each of them once. */
  readonly rules: readonly SoldPass[];
  /** What a payment of these terms buys; undefined where it is one request. */
  readonly ruleOf: (terms: Pick<Terms, 'asset' | 'amount'>) => SoldPass | undefined;
  /** The same for pages, which say it in their readers' language. */
  readonly boughtFor: (terms: Pick<Terms, 'asset' | 'amount'>) => Bought | undefined;
  /** What a payment of these terms buys, in words; undefined where it is one request. */
  readonly wordsFor: (terms: Pick<Terms, 'asset' | 'amount'>) => string | undefined;
  /** All offers in a sentence. */
  readonly inWords: string;
}

/** What of the options of a gate says what is sold. */
type SoldOptions = Partial<Pick<ResolvedPaymentOptions, 'pass' | 'payTo' | 'memo'>> &
  Pick<ResolvedPaymentOptions, 'price' | 'settle'> & {
    readonly facilitator: Pick<ResolvedPaymentOptions['facilitator'], 'tokens'>;
  };

/** What is the same for all requests where a pass is sold, and why. */
const SAME_FOR_ALL = {
  price:
    'a pass covers every request to its routes, and would be bought where option "price" asks for little: give fixed prices and no function. What members pay belongs in option "holders"; what costs more is a route with a gate of its own',
  payTo: 'a pass is sold by one wallet: give option "payTo" as an address and no function',
  memo: 'a pass covers every request to its routes, and not what option "memo" says of one: give a text and no function, or sell single requests',
} as const;

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
  if (pass === undefined && !offers.some(isOffer)) return undefined;
  refuseFunctions(where, options);
  if (pass !== undefined) {
    if (offers.some(isOffer)) throw badOption(where, 'give option "pass", or a pass with each price, not both', 'pass');
    const rule = { ...pass, byMint: readCosts(where, pass, tokens, 'option "pass"') };
    const prices = offers.map((it) => parsePrice(isOffer(it) ? it.price : it, tokens, where));
    const inWords = onePayment(rule, prices, tokens);
    return soldPasses(where, options, { rules: [rule], prices, ruleOf: () => rule, inWords });
  }
  const byTerms = new Map<string, SoldPass | undefined>();
  const prices: ParsedPrice[] = [];
  const words: string[] = [];
  for (const [at, offer] of offers.entries()) {
    const price = parsePrice(isOffer(offer) ? offer.price : offer, tokens, where);
    const rule = isOffer(offer) ? readRule(where, at, offer, tokens) : undefined;
    const key = keyOf(price);
    if (byTerms.has(key)) throw badOption(where, `price ${at + 1} is the same as one before it`, 'price');
    byTerms.set(key, rule);
    prices.push(price);
    words.push(offerInWords(rule, price, tokens));
  }
  const rules = [...byTerms.values()].filter((it) => it !== undefined);
  const inWords = `Offered are ${words.join(', or ')}.`;
  const ruleOf: SoldPasses['ruleOf'] = (terms) => byTerms.get(keyOf(terms));
  return soldPasses(where, options, { rules, prices, ruleOf, inWords });
}

/**
 * Makes sure that what a pass covers has one price, one seller and one memo.
 * @throws TollhouseError `bad_option` where one of them depends on the request
 */
export function refuseFunctions(where: string, options: Pick<SoldOptions, keyof typeof SAME_FOR_ALL>): void {
  for (const name of ['price', 'payTo', 'memo'] as const) {
    if (typeof options[name] === 'function') throw badOption(where, SAME_FOR_ALL[name], name);
  }
}

/** @throws TollhouseError `bad_option` where it is not certain what a request takes of credit */
function soldPasses(
  where: string,
  { facilitator: { tokens }, settle }: SoldOptions,
  { prices, ...sold }: Omit<SoldPasses, 'wordsFor' | 'boughtFor'> & { readonly prices: readonly ParsedPrice[] },
): SoldPasses {
  const { rules, ruleOf } = sold;
  checkAlike(where, rules);
  for (const it of prices) {
    const { byMint } = ruleOf(it) ?? {};
    if (byMint !== undefined) checkCredit(where, byMint, it, tokens);
  }
  if (settle === 'after' && rules.some(({ stream }) => stream)) {
    throw badOption(
      where,
      'credit for streams, "stream: true" of a pass, is paid first: add settle: "before"',
      'settle',
    );
  }
  const ofRule =
    <T>(say: (rule: SoldPass, terms: Pick<Terms, 'asset' | 'amount'>, tokens: readonly Token[]) => T) =>
    (terms: Pick<Terms, 'asset' | 'amount'>) => {
      const rule = ruleOf(terms);
      return rule && say(rule, terms, tokens);
    };
  return { ...sold, boughtFor: ofRule(boughtBy), wordsFor: ofRule(passInWords) };
}

function onePayment(rule: SoldPass, prices: readonly ParsedPrice[], tokens: readonly Token[]): string {
  const [bought = '', ...others] = prices.map((it) => passInWords(rule, it, tokens));
  if (rule.byMint === undefined) return `One payment covers ${bought}.`;
  return `One payment buys ${[bought, ...others].join(', or ')}.`;
}

/** A price and what it buys, in words: `0.5 USDC for 100 requests`. */
export function offerInWords(rule: SoldPass | undefined, price: ParsedPrice, tokens: readonly Token[]): string {
  const words = rule === undefined ? EN.buysOne : passInWords(rule, price, tokens);
  return rule?.byMint === undefined ? `${amountText(price.amount, price.asset, tokens)} for ${words}` : words;
}

function readRule(
  where: string,
  at: number,
  { price: _price, pass, ...others }: Offer,
  tokens: readonly Token[],
): SoldPass {
  const [misplaced] = Object.keys(others);
  if (misplaced !== undefined) {
    const detail = `price ${at + 1} has "${misplaced}" beside "price"; what a payment buys stands in "pass", as in { price: "$0.50", pass: { uses: 100 } }`;
    throw badOption(where, detail, 'price');
  }
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
