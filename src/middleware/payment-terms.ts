import type { Request } from 'express';
import { badOption } from '../errors.js';
import { isAddress } from '../protocol/address.js';
import { type AddressInput, addressText } from '../protocol/address-input.js';
import { withAmountJson } from '../protocol/amount-json.js';
import { MAX_MEMO_BYTES } from '../protocol/limits.js';
import { parsePrice } from '../protocol/money.js';
import type { SupportedKind } from '../protocol/supported.js';
import type { Terms } from '../protocol/types.js';
import type { Price, RequirePaymentOptions, ResolvedPaymentOptions } from './payment-options.js';

const WHERE = 'requirePayment';

/** Terms of a route but for the fee payer, which the facilitator names at the time. */
type RouteTerms = Omit<Terms, 'feePayer'>;

/** Answers the terms for one request; the fee payer is that of `kind`. */
export type TermsFor = (req: Request, kind: SupportedKind) => Promise<readonly Terms[]> | readonly Terms[];

/**
 * Reads the price, the recipient and the memo of a route. What does not depend on the request is read once, here, and a
 * mistake in it throws now.
 */
export function termsOf(options: ResolvedPaymentOptions): TermsFor {
  const { price, payTo, memo } = options;
  const fixed = fixedTerms(options);
  if (fixed !== undefined) return withFeePayer(fixed);
  checkFixedParts(price, payTo, memo, options);
  return async (req, { feePayer }) => {
    const asked = typeof price === 'function' ? await price(req) : price;
    const wallet = typeof payTo === 'function' ? await payTo(req) : payTo;
    const text = typeof memo === 'function' ? memo(req) : memo;
    return readTerms(options, asked, recipientOf(wallet), text).map((terms) => withAmountJson({ ...terms, feePayer }));
  };
}

/** One list for each fee payer: what is made of it need not be made again (`challenge-cache.ts`). */
function withFeePayer(fixed: readonly RouteTerms[]): TermsFor {
  const known = new Map<string, readonly Terms[]>();
  return (_req, { feePayer }) => {
    const terms = known.get(feePayer) ?? fixed.map((it) => withAmountJson({ ...it, feePayer }));
    known.set(feePayer, terms);
    return terms;
  };
}

/** The terms of a route that asks the same of every request; undefined for others. */
export function fixedTerms(options: ResolvedPaymentOptions): readonly RouteTerms[] | undefined {
  const { price, payTo, memo } = options;
  const varies = typeof price === 'function' || typeof payTo === 'function' || typeof memo === 'function';
  return varies ? undefined : readTerms(options, price, recipientOf(payTo), memo);
}

function readTerms(
  options: ResolvedPaymentOptions,
  price: Price,
  payTo: string,
  memo: string | undefined,
): readonly RouteTerms[] {
  const { facilitator, maxTimeoutSeconds } = options;
  checkMemo(memo);
  return readPrices(price, options).map(({ asset, amount }) => ({
    scheme: 'exact',
    network: facilitator.network,
    asset,
    amount,
    payTo,
    maxTimeoutSeconds,
    ...(memo === undefined ? {} : { memo }),
  }));
}

function readPrices(price: Price, { facilitator }: ResolvedPaymentOptions) {
  const prices = Array.isArray(price) ? price : [price];
  if (prices.length === 0) throw badOption(WHERE, 'option "price" must hold at least one price', 'price');
  return prices.map((it) => parsePrice(it, facilitator.tokens, WHERE));
}

/** With one part given as a function, the others are still wrong now and not at the first request. */
function checkFixedParts(
  price: RequirePaymentOptions['price'],
  payTo: ResolvedPaymentOptions['payTo'],
  memo: RequirePaymentOptions['memo'],
  options: ResolvedPaymentOptions,
): void {
  if (typeof price !== 'function') readPrices(price, options);
  if (typeof payTo !== 'function') recipientOf(payTo);
  if (typeof memo !== 'function') checkMemo(memo);
}

function recipientOf(payTo: AddressInput): string {
  const recipient = addressText(payTo);
  if (recipient !== undefined && isAddress(recipient)) return recipient;
  const shown = JSON.stringify(payTo)?.slice(0, 60);
  throw badOption(WHERE, `option "payTo" must be a Solana wallet address (base58, 32 bytes), not ${shown}`, 'payTo');
}

function checkMemo(memo: string | undefined): void {
  if (memo === undefined || (memo.length > 0 && Buffer.byteLength(memo) <= MAX_MEMO_BYTES)) return;
  throw badOption(WHERE, `option "memo" must have 1 to ${MAX_MEMO_BYTES} bytes of UTF-8`, 'memo');
}
