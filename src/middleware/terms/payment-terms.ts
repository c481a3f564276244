import type { Request } from 'express';
import { badOption } from '../../errors/errors.js';
import { defined } from '../../lib/defined.js';
import { MAX_MEMO_BYTES } from '../../protocol/limits.js';
import { withAmountJson } from '../../protocol/money/amount-json.js';
import { parsePrice } from '../../protocol/money/money.js';
import type { SupportedKind } from '../../protocol/supported.js';
import type { Terms } from '../../protocol/types.js';
import { askOption } from '../gate/option-fault.js';
import { onEachNetwork } from './network-terms.js';
import { hasOffers, pricesOf } from './offers.js';
import { recipientOf } from './pay-to.js';
import type { Offers, Price, ResolvedPaymentOptions } from './payment-options.js';

/** Terms of a route but for the fee payer, which the facilitator names at the time. */
type RouteTerms = Omit<Terms, 'feePayer'>;

/** A kind that payments are offered by here: all of them are of the scheme `exact`. */
export type OfferedKind = Omit<SupportedKind, 'scheme'>;

/** Returns the terms for one request; the fee payer is that of `kind`. */
export type TermsFor = (req: Request, kind: OfferedKind) => Promise<readonly Terms[]> | readonly Terms[];

/**
 * Reads the price, the recipient and the memo of a route. What does not depend on the request is read once, here, and a
 * mistake in it throws now.
 * @param where - the function that the options were given to, for messages
 */
export function termsForRequest(where: string, options: ResolvedPaymentOptions): TermsFor {
  if (options.perNetwork === undefined) return termsOnNetwork(where, options);
  const byNetwork = new Map(
    onEachNetwork(options).map((it) => [it.facilitator.network, termsOnNetwork(where, it)] as const),
  );
  return (req, kind) => byNetwork.get(kind.network)?.(req, kind) ?? [];
}

function termsOnNetwork(where: string, options: ResolvedPaymentOptions): TermsFor {
  const { price, payTo, memo } = options;
  const fixed = fixedOnNetwork(where, options);
  const { declaredFault } = options.facilitator;
  if (fixed !== undefined) return withFeePayer(fixed, declaredFault);
  checkFixedParts(where, options);
  // Read once: a list or an object that its owner changes later sets no price.
  const fixedPrices = typeof price === 'function' ? undefined : readPrices(where, price, options);
  return async (req, { feePayer }) => {
    const asked = typeof price === 'function' ? await askOption(where, 'price', () => price(req)) : [];
    const prices = fixedPrices ?? readPrices(where, asked, options);
    const wallet = typeof payTo === 'function' ? await askOption(where, 'payTo', () => payTo(req)) : payTo;
    const text = typeof memo === 'function' ? await askOption(where, 'memo', () => memo(req)) : memo;
    const terms = readTerms(where, options, prices, recipientOf(where, wallet, options.facilitator.tokens), text);
    refuseFaults(terms, declaredFault);
    return terms.map((it) => withAmountJson({ ...it, feePayer }));
  };
}

/** One list for each fee payer: what is made of it need not be made again (`challenge-cache.ts`). */
function withFeePayer(fixed: readonly RouteTerms[], declaredFault: DeclaredFault): TermsFor {
  const known = new Map<string, readonly Terms[]>();
  return (_req, { feePayer }) => {
    refuseFaults(fixed, declaredFault);
    const terms = known.get(feePayer) ?? fixed.map((it) => withAmountJson({ ...it, feePayer }));
    known.set(feePayer, terms);
    return terms;
  };
}

type DeclaredFault = ResolvedPaymentOptions['facilitator']['declaredFault'];

/** A price in a token whose decimals were declared wrongly is none. */
function refuseFaults(terms: readonly RouteTerms[], declaredFault: DeclaredFault): void {
  if (declaredFault === undefined) return;
  for (const { asset } of terms) {
    const fault = declaredFault(asset);
    if (fault !== undefined) throw fault;
  }
}

/** The terms of a route that asks the same of every request, on each of its networks; undefined for others. */
export function fixedTerms(where: string, options: ResolvedPaymentOptions): readonly RouteTerms[] | undefined {
  const each = onEachNetwork(options).map((it) => fixedOnNetwork(where, it));
  return each.every((it) => it !== undefined) ? each.flat() : undefined;
}

function fixedOnNetwork(where: string, options: ResolvedPaymentOptions): readonly RouteTerms[] | undefined {
  const { price, payTo, memo } = options;
  const varies = typeof price === 'function' || typeof payTo === 'function' || typeof memo === 'function';
  return varies
    ? undefined
    : readTerms(
        where,
        options,
        readPrices(where, price, options),
        recipientOf(where, payTo, options.facilitator.tokens),
        memo,
      );
}

function readTerms(
  where: string,
  options: ResolvedPaymentOptions,
  prices: readonly AtomicTerms[],
  payTo: string,
  memo: string | undefined,
): readonly RouteTerms[] {
  const { facilitator, maxTimeoutSeconds } = options;
  checkMemo(where, memo);
  return prices.map(({ asset, amount }) => ({
    scheme: 'exact',
    network: facilitator.network,
    asset,
    amount,
    payTo,
    maxTimeoutSeconds,
    ...defined({ memo }),
  }));
}

const OFFERS_OF_FUNCTION =
  'a function as option "price" answers prices without a pass: give a list as "price", which says what each buys';

type AtomicTerms = Pick<Terms, 'asset' | 'amount'>;

function readPrices(where: string, price: Price | Offers, options: ResolvedPaymentOptions): readonly AtomicTerms[] {
  const { facilitator } = options;
  // What a payment buys is known before any request: it would be taken and never delivered.
  if (typeof options.price === 'function' && hasOffers(price)) throw badOption(where, OFFERS_OF_FUNCTION, 'price');
  const prices = pricesOf(price);
  if (prices.length === 0) throw badOption(where, 'option "price" must hold at least one price', 'price');
  return prices.map((it) => parsePrice(it, facilitator.tokens, where));
}

/** With one part given as a function, the others are still wrong now and not at the first request. */
function checkFixedParts(where: string, options: ResolvedPaymentOptions): void {
  const { price, payTo, memo } = options;
  if (typeof price !== 'function') readPrices(where, price, options);
  if (typeof payTo !== 'function') recipientOf(where, payTo, options.facilitator.tokens);
  if (typeof memo !== 'function') checkMemo(where, memo);
}

function checkMemo(where: string, memo: string | undefined): void {
  if (memo === undefined || (memo.length > 0 && Buffer.byteLength(memo) <= MAX_MEMO_BYTES)) return;
  throw badOption(where, `option "memo" must have 1 to ${MAX_MEMO_BYTES} bytes of UTF-8`, 'memo');
}
