import type { MaybePromise } from '../../lib/maybe-promise.js';
import { MOST_PRICE_SCOPES, type Pass, type PassStore, PRICE_OF } from '../../storage/passes/pass-store.js';
import type { Claim } from '../types.js';
import { boughtPass } from './bought-pass.js';

/** The scope of credit that covers the price of a route, and not what passes of that route cover. */
export function priceScope(route: string): string {
  return `${PRICE_OF}${route}`;
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
  passes: Pick<PassStore, 'open' | 'giveBack' | 'priceScopes'>,
  claim: Pick<Claim, 'id' | 'payer' | 'terms'>,
  place: PricePlace,
): Promise<Pass> {
  const { asset: mint, amount } = claim.terms;
  const buys = { ...place, kind: 'credit', mint, bought: amount, left: amount } as const;
  const credit = boughtPass({ ...claim, buys }, Date.now());
  const pass = await passes.open(credit.pass, credit.events);
  await passes.giveBack(pass.id, claim.id);
  priceCreditsIn(passes).changed();
  return pass;
}

/** How long what was seen of credit is believed, in milliseconds. */
const BELIEVED_MS = 1_000;

/** Where somebody has credit for the price of a route. */
export interface PriceCredits {
  /** Whether somebody has some in a scope, or may have. */
  isIn(scope: string): MaybePromise<boolean>;
  /** Looks anew when it is asked next: somebody was given some. */
  changed(): void;
}

const known = new WeakMap<object, PriceCredits>();

/**
 * Where anybody has credit for a price, by one look at the store in a second, however many ask: most gates never give any, and their
 * answers are not to cost more for it. Where the store cannot be reached it is as if nobody had.
 */
export function priceCreditsIn(passes: Pick<PassStore, 'priceScopes'>): PriceCredits {
  const credits = known.get(passes) ?? lookFor(passes);
  known.set(passes, credits);
  return credits;
}

function lookFor(passes: Pick<PassStore, 'priceScopes'>): PriceCredits {
  let scopes: ReadonlySet<string> = new Set();
  let believedUntil = Number.NEGATIVE_INFINITY;
  let looking: Promise<void> | undefined;
  // With more than can be listed, any scope may have some.
  const has = (scope: string) => scopes.has(scope) || scopes.size >= MOST_PRICE_SCOPES;
  async function look(): Promise<void> {
    believedUntil = performance.now() + BELIEVED_MS;
    scopes = new Set(await passes.priceScopes().catch(() => []));
    looking = undefined;
  }
  return {
    isIn(scope) {
      if (performance.now() > believedUntil) looking = look();
      return looking === undefined ? has(scope) : looking.then(() => has(scope));
    },
    changed() {
      believedUntil = Number.NEGATIVE_INFINITY;
    },
  };
}
