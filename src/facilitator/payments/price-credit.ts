import { inGroups } from '../../lib/work/in-groups.js';
import { type Pass, type PassStore, PRICE_OF, takenByPayment } from '../../storage/passes/pass-store.js';
import type { Claim } from '../types.js';
import { boughtPass } from './bought-pass.js';

/** The scope of credit that covers the price of a route, and not what passes of that route cover. */
export function priceScope(route: string): string {
  return `${PRICE_OF}${route}`;
}

/** Whether a scope is one of {@link priceScope}. */
export function isPriceScope(scope: string): boolean {
  return scope.startsWith(PRICE_OF);
}

/** Where credit for the price of a route is good. */
export interface PricePlace {
  /** Who sold it, as passes name that. */
  readonly site: string;
  /** See {@link priceScope}. */
  readonly scope: string;
}

/**
 * Gives a payer what he has paid for a request that failed: the whole amount as credit for the price of its route. Once for a
 * payment, however often that is asked for; what a request of the same payment has taken of it since is given back.
 */
export async function givePriceCredit(
  passes: Pick<PassStore, 'open' | 'giveBack' | 'find'>,
  claim: Pick<Claim, 'id' | 'payer' | 'terms'>,
  place: PricePlace,
): Promise<Pass> {
  const { asset: mint, amount } = claim.terms;
  const buys = { ...place, kind: 'credit', mint, bought: amount, left: amount } as const;
  const credit = boughtPass({ ...claim, buys }, Date.now());
  const pass = await passes.open(credit.pass, credit.events);
  const isMore = await passes.giveBack(pass.id, claim.id);
  return (isMore ? await passes.find(pass.id) : undefined) ?? pass;
}

/**
 * What came of taking again what the request of a payment costs. `taken`: it did. `owed`: a run that has not come to its end has taken it
 * before, or nothing is kept that requests take from. `charged`: the same, and it has charged more than that, for what had left of its
 * stream. `gone`: what was left was had otherwise.
 */
export type TakenAgain = 'taken' | 'owed' | 'charged' | 'gone';

/**
 * Takes what the request of a payment costs from what the payment has left its payer, under the name of the payment: then it is owed for
 * it again, and nothing else can have it.
 * @param priceNow - what one response of a token costs today; undefined where none is sold in it. No request costs more than was paid for it
 */
export async function takeAgain(
  passes: Pick<PassStore, 'findByPayment' | 'debit'>,
  { id, terms, buys }: Pick<Claim, 'id' | 'terms' | 'buys'>,
  priceNow: (mint: string) => Promise<bigint | undefined>,
): Promise<TakenAgain> {
  const pass = await passes.findByPayment(id);
  const paid = paidForRequest({ terms, buys });
  if (pass?.left === undefined || paid === undefined) return 'owed';
  const amount = buys === undefined ? least(paid, await priceNow(terms.asset)) : paid;
  const taken = await passes.debit({ passId: pass.id, requestId: id, amount });
  if (!taken.ok) return 'gone';
  if (taken.takenBefore === undefined) return 'taken';
  return taken.takenBefore > paid ? 'charged' : 'owed';
}

/** What was paid for the request of a payment itself; undefined where nothing is taken for it of what the payment buys. */
export function paidForRequest({
  terms,
  buys,
}: Pick<Claim, 'terms'> & { readonly buys?: Claim['buys'] | undefined }): bigint | undefined {
  return buys === undefined ? terms.amount : takenByPayment(buys);
}

function least(paid: bigint, now: bigint = paid): bigint {
  return now < paid ? now : paid;
}

/** Where somebody has credit for the price of a route. */
export interface PriceCredits {
  /** Whether somebody has some in a scope, at some moment after it is asked. Where the store cannot be reached it is as if nobody had. */
  isIn(scope: string): Promise<boolean>;
}

/** How many scopes are looked for together at most. */
const MOST = 100;

const known = new WeakMap<object, PriceCredits>();

/**
 * Where anybody has credit for a price. All who ask at the same time are one look at the store: what was seen before is not believed, as
 * another instance may just have told a payer of his.
 */
export function priceCreditsIn(passes: Pick<PassStore, 'priceScopes'>): PriceCredits {
  const credits = known.get(passes) ?? lookFor(passes);
  known.set(passes, credits);
  return credits;
}

function lookFor(passes: Pick<PassStore, 'priceScopes'>): PriceCredits {
  const look = inGroups<string, boolean>({
    most: MOST,
    isOfOne: () => false,
    async run(scopes) {
      const found = new Set(await passes.priceScopes([...new Set(scopes)]));
      return scopes.map((scope) => found.has(scope));
    },
  });
  return { isIn: (scope) => look(scope).catch(() => false) };
}
