import { defined } from '../../lib/defined.js';
import { readSoldPasses, type SoldPasses } from '../../middleware/terms/offers.js';
import type { Offer, PassOption } from '../../middleware/terms/pass-option.js';
import type { AtomicPrice } from '../../protocol/money/money.js';
import type { CallPrice, ProjectMoney, ProjectOffer, ProjectPass } from '../../storage/projects/call-price.js';

/** A price of a project: of one call where it has no pass. */
export type PriceOfCalls = Pick<ProjectOffer, 'amount' | 'token'> & { readonly pass?: ProjectPass };

/** All that may be paid for calls of a project, in the seller's order. */
export function callPrices({ amount, token, pass, prices = [], offers = [] }: CallPrice): readonly PriceOfCalls[] {
  return [{ amount, token, ...defined({ pass }) }, ...prices, ...offers];
}

/** What one call costs, in each token in which it is sold; empty where no single calls are sold. */
export function singlePrices({ amount, token, pass, prices = [] }: CallPrice): readonly [] | SinglePrices {
  return pass === undefined ? [{ amount, token }, ...prices] : [];
}

/** At least one. */
type SinglePrices = readonly [ProjectMoney, ...ProjectMoney[]];

/** The same as option `price` of `requirePayment`. */
export function offersOf(price: CallPrice): readonly (AtomicPrice | Offer)[] {
  return callPrices(price).map(({ amount, token, pass }) => {
    const atomic = { amount, asset: token.mint };
    return pass === undefined ? atomic : { price: atomic, pass: passOptionOf(pass, token.mint) };
  });
}

function passOptionOf({ cost, ...pass }: ProjectPass, asset: string): PassOption {
  return { ...pass, ...(cost === undefined ? {} : { credit: true, cost: { amount: cost, asset } }) };
}

/**
 * What payments buy at a project for more than one call, and what they have bought when other prices were offered; undefined where
 * that is single calls alone.
 * @throws TollhouseError `bad_option` where it is not certain what a payment buys
 */
export function soldPasses(where: string, price: CallPrice): SoldPasses | undefined {
  const sold = soldNow(where, price);
  const before = passesOf(where, price.former ?? []);
  if (before.length === 0) return sold;
  return { ...(sold ?? NOTHING_SOLD), rules: [...(sold?.rules ?? []), ...before] };
}

/**
 * The passes of offers that were made at different times. Each by itself: together they were never offered, and may well have had the
 * same price.
 */
export function passesOf(where: string, offers: readonly ProjectOffer[]): SoldPasses['rules'] {
  return offers.flatMap((it) => soldNow(where, { ...it })?.rules ?? []);
}

const NOTHING_SOLD = { ruleOf: () => undefined, boughtFor: () => undefined, wordsFor: () => undefined, inWords: '' };

function soldNow(where: string, price: CallPrice): SoldPasses | undefined {
  const tokens = callPrices(price).map(({ token }) => token);
  return readSoldPasses(where, { price: offersOf(price), facilitator: { tokens }, settle: 'before' });
}

/** So many that were offered before are remembered. */
const MOST_FORMER = 20;

/** What was offered before and covers what is not covered by what is offered now; undefined where that is nothing. */
export function formerOffers(before: CallPrice, now: CallPrice): readonly ProjectOffer[] | undefined {
  const known = new Set(callPrices(now).map(coverOf));
  const former: ProjectOffer[] = [];
  for (const { amount, token, pass } of [...callPrices(before), ...(before.former ?? [])]) {
    if (pass === undefined) continue;
    const cover = coverOf({ token, pass });
    if (known.has(cover)) continue;
    known.add(cover);
    former.push({ amount, token, pass });
  }
  return former.length === 0 ? undefined : former.slice(0, MOST_FORMER);
}

/** What is covered by passes that are sold so, whatever they cost. */
function coverOf({ token, pass }: Omit<PriceOfCalls, 'amount'>): string {
  if (pass === undefined) return '';
  return `${pass.group ?? ''} ${pass.cost === undefined ? '' : token.mint}`;
}
