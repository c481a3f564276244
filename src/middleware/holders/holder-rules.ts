import { badOption } from '../../errors/errors.js';
import { defined } from '../../lib/defined.js';
import { type ParsedPrice, parsePrice } from '../../protocol/money/money.js';
import type { SoldPass } from '../terms/credit-costs.js';
import type { ReadAllowance, ReadHolderOffer } from '../terms/holder-offers.js';
import { offerInWords, pricesOf, readSoldPasses, refuseFunctions, type SoldPasses } from '../terms/offers.js';
import type { ResolvedPaymentOptions } from '../terms/payment-options.js';
import { tierRule } from '../wallet/require-tier.js';
import { balanceRule } from '../wallet/require-token-balance.js';
import type { RuleOfGate } from '../wallet/wallet-gate.js';

/** What wallets that hold something pay, or have without paying. */
export interface HolderRule {
  /** Who they are. */
  readonly who: RuleOfGate;
  /** The options of the gate for them. */
  readonly options: ResolvedPaymentOptions;
  readonly sold: SoldPasses | undefined;
  /** Whether they pay anything else than strangers do. */
  readonly hasOwnPrice: boolean;
  readonly isFree: boolean;
  readonly allowance: SoldPass | undefined;
  /** What they pay or have, in words: `0.001 USDC for 1 request`. */
  readonly inWords: string;
}

/**
 * Reads what a gate asks of those who hold something.
 * @throws TollhouseError `bad_option` where that is wrong
 */
export function readHolderRules(where: string, options: ResolvedPaymentOptions): readonly HolderRule[] {
  return options.holders.map((offer, at) => readRule(`${where}: entry ${at + 1} of "holders"`, options, offer));
}

function readRule(where: string, gate: ResolvedPaymentOptions, offer: ReadHolderOffer): HolderRule {
  const { price, pass, free: isFree = false, allowance: had } = offer;
  const who = readWho(where, gate, offer);
  const { pass: _pass, ...others } = gate;
  const options = price === undefined ? gate : Object.freeze({ ...others, price, ...defined({ pass }) });
  const sold = readSoldPasses(where, options);
  // What is had belongs to one seller's route, whatever a request to it would cost.
  if (had !== undefined) refuseFunctions(where, { ...gate, price: '$1' });
  const allowance = had && asPass(had);
  const words = [had && allowanceInWords(had), isFree ? 'no payment' : priceInWords(where, options, sold)];
  const inWords = words.filter((it) => it !== undefined && it !== '').join(', then ');
  return { who, options, sold, hasOwnPrice: price !== undefined, isFree, allowance, inWords };
}

function readWho(
  where: string,
  { facilitator, identity, baseUrl, requestNames: { wallet, tier: named } }: ResolvedPaymentOptions,
  { price: _price, pass: _pass, free: _free, allowance: _allowance, ...given }: ReadHolderOffer,
): RuleOfGate {
  const { tier, tiers, mint, collection, minBalance, ...common } = given;
  const shared = { facilitator, ...defined({ identity, baseUrl, ...common }) };
  if (tier !== undefined) {
    if (minBalance !== undefined) throw badOption(where, 'a tier has its own "minBalance": leave it out', 'holders');
    return tierRule(where, { ...shared, requestNames: { wallet, tier: named }, ...defined({ tier, tiers }) });
  }
  if (tiers !== undefined) throw badOption(where, '"tiers" says nothing without "tier"', 'holders');
  return balanceRule(where, { ...shared, requestNames: { wallet }, ...defined({ mint, collection, minBalance }) });
}

function asPass({ uses, perMs: forMs, group }: ReadAllowance): SoldPass {
  const none = { graceMs: undefined, costs: undefined, byMint: undefined };
  return { uses, forMs, group, ...none, stream: false, cookie: false };
}

function allowanceInWords({ uses, perMs, group }: ReadAllowance): string {
  const where = group === undefined ? '' : ` for anything of "${group}"`;
  return `${uses} requests${where} in every ${periodInWords(perMs)} without a payment`;
}

function periodInWords(ms: number): string {
  const hours = ms / 3_600_000;
  if (hours % 24 === 0) return hours === 24 ? 'day' : `${hours / 24} days`;
  return `${Math.round(ms / 1_000)} seconds`;
}

/** Nothing where it depends on the request. */
function priceInWords(
  where: string,
  { price, facilitator: { tokens } }: ResolvedPaymentOptions,
  sold: SoldPasses | undefined,
): string | undefined {
  if (typeof price === 'function') return undefined;
  const prices: readonly ParsedPrice[] = pricesOf(price).map((it) => parsePrice(it, tokens, where));
  return prices.map((it) => offerInWords(sold?.ruleOf(it), it, tokens)).join(' or ');
}
