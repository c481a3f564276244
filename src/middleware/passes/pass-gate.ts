import type { Request, Response } from 'express';
import { allowanceFor } from '../../facilitator/payments/allowance.js';
import type { Claim, PaymentUse } from '../../facilitator/types.js';
import { identityOf } from '../../identity/default-identity.js';
import { passTokensOf } from '../../identity/default-pass-tokens.js';
import { defined } from '../../lib/defined.js';
import type { Terms } from '../../protocol/types.js';
import { varyBy } from '../gate/cache-control.js';
import type { Admitted } from '../gate/gate.js';
import { ENDS_HEADER, PASS_HEADER, REMAINING_HEADER, RENEWABLE_HEADER } from '../gate/pass-headers.js';
import { createRequestNote } from '../gate/request-note.js';
import { exposeHeaders } from '../gate/respond.js';
import type { SoldPass } from '../terms/credit-costs.js';
import type { SoldPasses } from '../terms/offers.js';
import { recipientOf } from '../terms/pay-to.js';
import type { ResolvedPaymentOptions } from '../terms/payment-options.js';
import { offerSignIn, useUpSignIn } from '../wallet/wallet-auth.js';
import { cookiePath } from './cookie-path.js';
import { enterByPass } from './enter-by-pass.js';
import { meterFor } from './meter-for.js';
import { carryCookies, cookieAt, giveCookie } from './pass-cookie.js';
import { endOf, remainingHeaders } from './pass-end.js';
import { passScope, readRoute, siteOfGate } from './pass-place.js';
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
import { takeUse } from './take-use.js';

/** The passes that are sold at a gate. */
export interface PassGate {
  /**
   * Lets a request in by a pass that it shows. Where there is none that covers it, and where a payment came instead, notes
   * that signing in would help, for the 402.
   */
  admit(req: Request, res: Response, isPaying: boolean): Promise<Admitted | PassRefusal | undefined>;
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
  /** Lets a request in by the allowance of its wallet, which begins with each period. Undefined where it is used up. */
  coverByAllowance(req: Request, res: Response, wallet: string, allowance: SoldPass): Promise<Admitted | undefined>;
}

/** A pass as a payment buys it. */
type BoughtPass = NonNullable<PaymentUse['buys']>;

/** Headers that tell of a pass. */
export type PassHeaders = Readonly<Record<string, string>>;

const EXPOSED = [PASS_HEADER, REMAINING_HEADER, ENDS_HEADER, RENEWABLE_HEADER];

/** What is sold, and had, at a gate. */
export interface PassOffers {
  /** What each kind of callers may buy, strangers first; undefined for those who buy single requests. */
  readonly sold: readonly (SoldPasses | undefined)[];
  /** What wallets have without paying. */
  readonly allowances: readonly SoldPass[];
}

/**
 * The passes of a gate, for each kind of its callers: all of them are covered by whatever any of them has bought. None where nothing is
 * sold or had for more than one request.
 * @param asks - whether a response has its price, and what has a request asked to pay that was let in
 * @param route - as a table of routes has it
 */
export function createPassGates(
  where: string,
  options: ResolvedPaymentOptions,
  { sold, allowances }: PassOffers,
  asks: Pick<PassParts, 'charges' | 'refuse'>,
  route: string | undefined,
): readonly PassGate[] {
  const rules = [...sold.flatMap((it) => it?.rules ?? []), ...allowances];
  if (rules.length === 0) return [];
  const hasCookies = rules.some(({ cookie }) => cookie);
  const parts = partsOf(where, options, asks, hasCookies);
  const { passes, tokens, site, baseUrl, vary } = parts;
  const written = readRoute(route);
  const placesOf = createRequestNote<Request, readonly PassPlace[]>();
  const placeOf = (req: Request, rule: SoldPass): PassPlace => {
    const at = { scope: passScope(req, rule, written), costs: rule.byMint };
    return rule.cookie ? { ...at, cookiePath: cookiePath(req, rule, written, baseUrl) } : at;
  };

  const admitBy = (req: Request, res: Response, used: UsedPass): Admitted => ({
    admitted: true,
    enter: (next) => enterByPass(parts, req, res, used, next),
  });
  const coverBy = async (req: Request, res: Response, pass: KeptPass): Promise<Admitted | undefined> => {
    const used = await takeUse(parts, req, { shown: claimsOf(pass), byToken: false }, []);
    return used.admitted ? admitBy(req, res, used) : undefined;
  };

  const gateOf = (ruleOf: SoldPasses['ruleOf']): PassGate => ({
    async admit(req, res, isPaying) {
      const places = rules.map((rule) => placeOf(req, rule));
      if (hasCookies) carryCookies(res);
      const used = isPaying ? await useUpSignIn(req, parts) : await useShownPass(parts, req, places);
      // Scripts of other origins are the only ones who ask for leave to read.
      if (!used?.admitted || req.headers.origin !== undefined) exposeHeaders(res, EXPOSED);
      if (used?.admitted) return admitBy(req, res, used);
      varyBy(res, vary);
      placesOf.put(req, places);
      offerSignIn(req, parts);
      return used;
    },
    boughtWith(req, terms) {
      const rule = ruleOf(terms);
      const scope = rule && placesOf.of(req)?.[rules.indexOf(rule)]?.scope;
      const balance = rule && balanceOf(rule, terms);
      return balance === undefined || scope === undefined ? undefined : { site, scope, ...balance };
    },
    async coverInstead(req, res, { payer: wallet, buys }, isGood) {
      const pass = buys && (await farAhead(passes, wallet, buys));
      return pass !== undefined && (await isGood()) ? coverBy(req, res, pass) : undefined;
    },
    meterOf: (req, claim) => meterOfPurchase(parts, req, claim, ruleOf(claim.terms)?.stream ?? false),
    async tellOf(req, paymentId, isTheirs) {
      const pass = await passes.findByPayment(paymentId);
      if (pass === undefined) return {};
      const left = remainingHeaders({ ...endOf(pass), ...defined({ mint: pass.mint }) }, pass.left, parts.symbols);
      if (!isTheirs) return left;
      const claims = claimsOf(pass);
      const token = await tokens.issue(claims);
      const cookie = cookieAt(req, parts, placesOf.of(req) ?? [], pass.scope);
      if (cookie !== undefined && req.res !== undefined) giveCookie(req.res, cookie, token, claims.endsAt);
      return { ...left, [PASS_HEADER]: token };
    },
    async coverByAllowance(req, res, wallet, { uses = 0n, forMs = 0, ...rule }) {
      const scope = passScope(req, rule, written);
      return coverBy(req, res, await passes.open(allowanceFor({ wallet, site, scope }, { uses, perMs: forMs })));
    },
  });
  return sold.map((it) => gateOf(it?.ruleOf ?? (() => undefined)));
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
  return meterFor(parts, req, { cost, isTakenBefore }, async (amount) => {
    const pass = await parts.passes.findByPayment(paymentId);
    if (pass === undefined) return { ok: false, fault: 'unknown' };
    return parts.passes.adjust({ passId: pass.id, requestId: paymentId, amount });
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

function partsOf(
  where: string,
  { facilitator, payTo, baseUrl, identity = identityOf(facilitator), ...options }: ResolvedPaymentOptions,
  { charges, refuse }: Pick<PassParts, 'charges' | 'refuse'>,
  hasCookies: boolean,
): PassParts {
  const { passes, tokens: symbols } = facilitator;
  const site = siteOfGate(baseUrl, recipientOf(where, payTo, symbols));
  const vary = hasCookies ? `${PASS_VARY}, Cookie` : PASS_VARY;
  const tokens = identity.passTokens ?? passTokensOf(facilitator);
  const isBuying: PassParts['isBuying'] = (wanted) => facilitator.isBuying(wanted);
  const { requestNames, handlerTimeoutMs } = options;
  const place = { identity, baseUrl, site, vary, symbols };
  return { passes, isBuying, tokens, ...place, requestNames, charges, refuse, handlerTimeoutMs };
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
