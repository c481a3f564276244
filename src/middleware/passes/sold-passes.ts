import type { Request, Response } from 'express';
import { allowanceFor } from '../../facilitator/payments/allowance.js';
import type { Claim, PaymentUse } from '../../facilitator/types.js';
import { defined } from '../../lib/defined.js';
import { createRequestNote, type RequestNote } from '../../lib/http/request-note.js';
import { type MaybePromise, whenKnown } from '../../lib/maybe-promise.js';
import type { Terms } from '../../protocol/types.js';
import { varyBy } from '../gate/cache-control.js';
import type { Admitted } from '../gate/gate.js';
import { CREDIT_HEADER, ENDS_HEADER, PASS_HEADER, REMAINING_HEADER, RENEWABLE_HEADER } from '../gate/pass-headers.js';
import { exposeHeaders } from '../gate/respond.js';
import type { SoldPass } from '../terms/credit-costs.js';
import { takesUses } from '../terms/group-kinds.js';
import type { SoldPasses } from '../terms/offers.js';
import type { ResolvedPaymentOptions } from '../terms/payment-options.js';
import { offerSignIn, useUpSignIn } from '../wallet/wallet-auth.js';
import { type CoveredRequest, coveredRequest } from './covered-request.js';
import { enterByPass } from './enter-by-pass.js';
import { type GateAsks, partsAtSite } from './gate-parts.js';
import { meterFor } from './meter-for.js';
import { carryCookies, clearCookie, cookiePath, shownCookies } from './pass-cookie.js';
import { endOf } from './pass-end.js';
import { allowanceScope, passScope, siteOfSeller, type WrittenRoute } from './pass-place.js';
import {
  type CreditMeter,
  type KeptPass,
  PASS_VARY,
  type PassParts,
  type PassPlace,
  type PassRefusal,
  type UsedPass,
} from './pass-types.js';
import { claimsOf, useShownPass } from './shown-pass.js';
import { takeUse, unlessSuspended } from './take-use.js';
import { type PassHeaders, passHeaders } from './told-pass.js';

/** The passes that are sold at a gate. */
export interface PassSales {
  readonly parts: PassParts;
  /**
   * Lets a request in by a pass that it shows. Where there is none that covers it, and where a payment came instead, notes
   * that signing in would help, for the 402.
   */
  admit(req: Request, res: Response, isPaying: boolean): MaybePromise<Admitted | PassRefusal | undefined>;
  /** Takes back the cookies of passes that a request brings and that would cover it: the passes stay their wallets'. */
  forget(req: Request, res: Response): void;
  /** What passes that are sold may be for that cover a request; it was asked for admission. */
  placesOf(req: Request): readonly PassPlace[];
  /** What a payment of some terms buys that is brought with a request, which was asked for admission; undefined where that is one response. */
  boughtWith(req: Request, terms: Terms): BoughtPass | undefined;
  /**
   * Lets a request in whose payment would prolong a pass that lies more than a time of it ahead: by that pass, and nobody is charged
   * by a mistake. The payment itself shows whose it is. Undefined for others.
   * @param isGood - whether the payment would land, asked where there is such a pass: one that was taken from the chain shows nothing
   */
  coverInstead(
    req: Request,
    res: Response,
    claim: Pick<Claim, 'payer' | 'buys'>,
    isGood: () => Promise<boolean>,
  ): Promise<Admitted | undefined>;
  /** Lets a request in by the allowance of its wallet, which begins with each period. Undefined where it is used up. */
  coverByAllowance(req: Request, res: Response, wallet: string, allowance: SoldPass): Promise<Admitted | undefined>;
  /**
   * What measures the credit that a payment buys with the request which has brought it; undefined where it buys none. Nothing can be
   * taken beyond the cost before its money has landed.
   */
  meterOf(req: Request, claim: Pick<Claim, 'id' | 'terms' | 'buys' | 'resumed'>): CreditMeter | undefined;
  /**
   * Headers that tell of the pass that a payment has bought whose money has landed; none where it has bought one response.
   * The response to the request sets its cookie, where it has one.
   * @param req - it was asked for admission
   * @param isTheirs - whether it is certain who is told: without that the token is left out, and the cookie too
   */
  tellOf(req: Request, paymentId: string, isTheirs: boolean): Promise<PassHeaders>;
}

/** A pass as a payment buys it. */
type BoughtPass = NonNullable<PaymentUse['buys']>;

/** Where passes are sold, and who serves what they cover, where that is no route of Express. */
export interface SoldAt {
  /** The route as a table of routes has it. Default: that of Express. */
  readonly written?: WrittenRoute | undefined;
  /** Who sells: its wallet, base58. Default: the one that is paid. */
  readonly seller?: string;
  /** Makes sure that nothing else is sold for a route, which throws. Default: nothing is. */
  readonly checkRoute?: (req: Request, scope: string) => void;
  /** What a pass of a rule covers that is of no group. Default: the route. */
  readonly scopeOf?: (rule: SoldPass) => string;
  /** Serves what a pass covers. Default: the handler behind the gate. */
  readonly serve?: (covered: CoveredRequest) => Promise<void>;
}

const EXPOSED = [PASS_HEADER, REMAINING_HEADER, CREDIT_HEADER, ENDS_HEADER, RENEWABLE_HEADER];

/** What the kinds of callers of a gate share. */
interface PassShop {
  readonly parts: PassParts;
  /** All that may be bought or had. */
  readonly rules: readonly SoldPass[];
  /** Whether any of it has a cookie. */
  readonly hasCookies: boolean;
  readonly admitBy: AdmitBy;
  /** What passes of a rule are for that are bought with a request. */
  readonly placeOf: (req: Request, rule: SoldPass) => PassPlace;
  /** What an allowance of a rule is for that begins with a request. */
  readonly allowanceScopeOf: (req: Request, rule: SoldPass) => string;
  /** Of the requests that were asked for admission. */
  readonly places: RequestNote<Request, readonly PassPlace[]>;
}

/**
 * The passes of a gate that sells some, or has them to give: answers them for each kind of its callers, who may buy different ones and are
 * covered by all.
 * @param rules - all that may be bought or had
 * @param asks - whether a response has its price, and what has a request asked to pay that was let in
 * @throws TollhouseError `bad_option` where it is not certain who sells them
 */
export function createPassSales(
  where: string,
  options: ResolvedPaymentOptions,
  rules: readonly SoldPass[],
  asks: GateAsks,
  { written, seller, checkRoute, scopeOf, serve }: SoldAt = {},
): (ruleOf: SoldPasses['ruleOf']) => PassSales {
  const { baseUrl } = options;
  const site = siteOfSeller(where, options, seller);
  const hasCookies = rules.some(({ cookie }) => cookie);
  const vary = hasCookies ? `${PASS_VARY}, Cookie` : PASS_VARY;
  const refusing = new Set(rules.filter((rule) => !takesUses(rules, rule)));
  const parts = partsAtSite(options, asks, vary)(site);
  const mounts = new Set<string>();
  const shop: PassShop = {
    allowanceScopeOf: (req, rule) => allowanceScope(req, rule, written, mounts),
    ...{ parts, rules, hasCookies, admitBy: admission(parts, serve), places: createRequestNote() },
    placeOf(req, rule) {
      const own = rule.group === undefined ? scopeOf?.(rule) : undefined;
      const place = { scope: own ?? passScope(req, rule, written), costs: rule.byMint };
      if (rule.group === undefined) checkRoute?.(req, place.scope);
      const at = refusing.has(rule) ? { ...place, refusesUses: true as const } : place;
      return rule.cookie ? { ...at, cookiePath: cookiePath(req, rule, written, baseUrl) } : at;
    },
  };
  return (ruleOf) => salesOf(shop, ruleOf);
}

function salesOf(shop: PassShop, ruleOf: SoldPasses['ruleOf']): PassSales {
  const { parts, rules, admitBy, placeOf, allowanceScopeOf } = shop;
  const { passes, site } = parts;
  const placesOf = (req: Request) => shop.places.of(req) ?? [];
  const coverBy = async (req: Request, res: Response, pass: KeptPass): Promise<Admitted | undefined> => {
    const used = await takeUse(parts, req, { shown: claimsOf(pass), by: 'wallet' }, []);
    return used.admitted ? admitBy(req, res, used) : undefined;
  };
  return {
    parts,
    placesOf,
    forget(req, res) {
      const here = rules.map((rule) => placeOf(req, rule));
      carryCookies(res);
      for (const { cookie } of shownCookies(req, parts, here)) clearCookie(res, cookie);
    },
    admit: (req, res, isPaying) => admitShown(shop, req, res, isPaying),
    boughtWith(req, terms) {
      const rule = ruleOf(terms);
      const scope = rule && placesOf(req)[rules.indexOf(rule)]?.scope;
      const balance = rule && balanceOf(rule, terms);
      return balance === undefined || scope === undefined ? undefined : { site, scope, ...balance };
    },
    async coverInstead(req, res, { payer: wallet, buys }, isGood) {
      const pass = buys && (await farAhead(passes, wallet, buys));
      return pass !== undefined && (await isGood()) ? coverBy(req, res, pass) : undefined;
    },
    async coverByAllowance(req, res, wallet, rule) {
      const { uses = 0n, forMs: perMs = 0 } = rule;
      const scope = allowanceScopeOf(req, rule);
      const pass = await passes.open(allowanceFor({ wallet, site, scope }, { uses, perMs }));
      return coverBy(req, res, pass);
    },
    meterOf: (req, claim) => meterOfPurchase(parts, req, claim, ruleOf(claim.terms)?.stream ?? false),
    async tellOf(req, paymentId, isTheirs) {
      const pass = await passes.findByPayment(paymentId);
      return pass === undefined ? {} : passHeaders(parts, req, pass, placesOf(req), isTheirs);
    },
  };
}

function admitShown(
  shop: PassShop,
  req: Request,
  res: Response,
  isPaying: boolean,
): MaybePromise<Admitted | PassRefusal | undefined> {
  const { parts, rules, hasCookies, placeOf } = shop;
  const here = rules.map((rule) => placeOf(req, rule));
  if (hasCookies) carryCookies(res);
  const used = isPaying ? useUpSignIn(req, parts) : useShownPass(parts, req, here);
  return whenKnown(used, (it) => admitUsed(shop, req, res, here, it));
}

function admitUsed(
  { parts, places, admitBy }: PassShop,
  req: Request,
  res: Response,
  here: readonly PassPlace[],
  used: UsedPass | PassRefusal | undefined,
): Admitted | PassRefusal | undefined {
  // Scripts of other origins are the only ones who ask for leave to read.
  if (!used?.admitted || req.headers.origin !== undefined) exposeHeaders(res, EXPOSED);
  if (used?.admitted) return admitBy(req, res, used);
  varyBy(res, parts.vary);
  places.put(req, here);
  offerSignIn(req, parts);
  return used;
}

function meterOfPurchase(
  parts: PassParts,
  req: Request,
  { id: paymentId, terms, buys, resumed: isTakenBefore }: Pick<Claim, 'id' | 'terms' | 'buys' | 'resumed'>,
  stream: boolean,
): CreditMeter | undefined {
  if (buys?.kind !== 'credit') return undefined;
  const { bought = 0n, left = bought } = buys;
  // What was offered when it was paid, though another offer stands here today.
  const cost = { mint: terms.asset, amount: bought - left, stream };
  const whose = `the pass of the payment ${paymentId}`;
  const adjusting = unlessSuspended(parts, cost.amount);
  return meterFor(parts, req, { whose, cost, isTakenBefore }, async (amount) => {
    const pass = await parts.passes.findByPayment(paymentId);
    if (pass === undefined) return { ok: false, fault: 'unknown' };
    return adjusting(pass.wallet, { passId: pass.id, requestId: paymentId, amount });
  });
}

type AdmitBy = (req: Request, res: Response, used: UsedPass) => Admitted;

function admission(parts: PassParts, serve: SoldAt['serve']): AdmitBy {
  if (serve === undefined) {
    return (req, res, used) => ({ admitted: true, enter: (next) => enterByPass(parts, req, res, used, next) });
  }
  return (req, res, used) => ({
    admitted: true,
    enter: () => used.answer?.(res) ?? serve(coveredRequest(parts, req, res, used)),
  });
}

/** The pass that a purchase would prolong, where that ends later than a time of it from now. */
async function farAhead(
  passes: PassParts['passes'],
  wallet: string,
  { site, scope, lastsMs = 0, graceMs }: BoughtPass,
): Promise<KeptPass | undefined> {
  if (graceMs === undefined) return undefined;
  const found = await passes.findFor({ wallet, site, scope });
  const latest = Date.now() + lastsMs;
  return found.find((pass) => {
    const { endsAt = 0, renewableUntil } = endOf(pass);
    return renewableUntil !== undefined && pass.over === undefined && endsAt > latest;
  });
}

/**
 * The balance that a payment buys; its own request is the first of its uses. Undefined for an amount that buys no credit today: one of
 * terms that were offered before.
 */
function balanceOf({ uses, forMs, graceMs, byMint }: SoldPass, { asset: mint, amount: bought }: Terms) {
  const time = defined({ lastsMs: forMs });
  if (byMint !== undefined) {
    const { amount } = byMint.get(mint) ?? { amount: bought + 1n };
    return amount > bought ? undefined : ({ kind: 'credit', mint, bought, left: bought - amount, ...time } as const);
  }
  if (uses === undefined) return { kind: 'until', ...time, ...defined({ graceMs }) } as const;
  return { kind: 'uses', bought: uses, left: uses - 1n, ...time } as const;
}
