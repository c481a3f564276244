import type { Request, Response } from 'express';
import { badOption } from '../../errors/errors.js';
import type { PaymentUse } from '../../facilitator/types.js';
import { identityOf } from '../../identity/default-identity.js';
import { passTokensOf } from '../../identity/default-pass-tokens.js';
import { defined } from '../../lib/defined.js';
import type { Terms } from '../../protocol/types.js';
import { varyBy } from '../gate/cache-control.js';
import type { Admitted } from '../gate/gate.js';
import { PASS_HEADER, REMAINING_HEADER } from '../gate/pass-headers.js';
import { createRequestNote } from '../gate/request-note.js';
import { exposeHeaders } from '../gate/respond.js';
import type { SoldPasses } from '../terms/offers.js';
import type { PassRule } from '../terms/pass-option.js';
import { recipientOf } from '../terms/pay-to.js';
import type { ResolvedPaymentOptions } from '../terms/payment-options.js';
import { offerSignIn, useUpSignIn } from '../wallet/wallet-auth.js';
import { cookiePath } from './cookie-path.js';
import { enterByPass, remainingText } from './enter-by-pass.js';
import { carryCookies, cookieAt, giveCookie } from './pass-cookie.js';
import { passScope, readRoute, siteOfGate } from './pass-place.js';
import { PASS_VARY, type PassParts, type PassPlace, type PassRefusal } from './pass-types.js';
import { claimsOf, useShownPass } from './shown-pass.js';

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
   * Headers that tell of the pass that a payment has bought whose money has landed; none where it has bought one response.
   * The response to the request sets its cookie, where it has one.
   * @param req - it was asked for admission
   * @param isTheirs - whether it is certain who is told: without that the token is left out, and the cookie too
   */
  tellOf(req: Request, paymentId: string, isTheirs: boolean): Promise<PassHeaders>;
}

/** A pass as a payment buys it. */
type BoughtPass = NonNullable<PaymentUse['buys']>;

/** Headers that tell of a pass. */
export type PassHeaders = Readonly<Record<string, string>>;

const EXPOSED = [PASS_HEADER, REMAINING_HEADER];

/**
 * The passes of a gate that sells some; undefined for others.
 * @param sold - what may be bought
 * @param route - as a table of routes has it
 * @throws TollhouseError `bad_option` where it is not certain who sells them
 */
export function createPassGate(
  where: string,
  options: ResolvedPaymentOptions,
  sold: SoldPasses | undefined,
  charges: (res: Response) => boolean,
  route: string | undefined,
): PassGate | undefined {
  const { facilitator, payTo, baseUrl, requestNames, handlerTimeoutMs } = options;
  if (sold === undefined) return undefined;
  if (typeof payTo === 'function') {
    const detail = 'a pass is sold by one wallet: give option "payTo" as an address and no function';
    throw badOption(where, detail, 'payTo');
  }
  const { identity = identityOf(facilitator) } = options;
  const { passes } = facilitator;
  const tokens = identity.passTokens ?? passTokensOf(facilitator);
  const site = siteOfGate(baseUrl, recipientOf(where, payTo, facilitator.tokens));
  const hasCookies = sold.rules.some(({ cookie }) => cookie);
  const vary = hasCookies ? `${PASS_VARY}, Cookie` : PASS_VARY;
  const isBuying: PassParts['isBuying'] = (wanted) => facilitator.isBuying(wanted);
  const place = { identity, baseUrl, site, vary };
  const parts: PassParts = { passes, isBuying, tokens, ...place, requestNames, charges, handlerTimeoutMs };
  const written = readRoute(route);
  const placesOf = createRequestNote<Request, readonly PassPlace[]>();
  const placeOf = (req: Request, rule: PassRule): PassPlace => {
    const scope = passScope(req, rule, written);
    return rule.cookie ? { scope, cookiePath: cookiePath(req, rule, written, baseUrl) } : { scope };
  };

  return {
    async admit(req, res, isPaying) {
      const places = sold.rules.map((rule) => placeOf(req, rule));
      if (hasCookies) carryCookies(res);
      const used = isPaying ? await useUpSignIn(req, parts) : await useShownPass(parts, req, places);
      // Scripts of other origins are the only ones who ask for leave to read.
      if (!used?.admitted || req.headers.origin !== undefined) exposeHeaders(res, EXPOSED);
      if (used?.admitted) return { admitted: true, enter: (next) => enterByPass(parts, req, res, used, next) };
      varyBy(res, vary);
      placesOf.put(req, places);
      offerSignIn(req, parts);
      return used;
    },
    boughtWith(req, terms) {
      const rule = sold.ruleOf(terms);
      const place = rule && placesOf.of(req)?.[sold.rules.indexOf(rule)];
      return rule === undefined || place === undefined ? undefined : { site, scope: place.scope, ...balanceOf(rule) };
    },
    async tellOf(req, paymentId, isTheirs) {
      const pass = await passes.findByPayment(paymentId);
      if (pass === undefined) return {};
      const left = { [REMAINING_HEADER]: remainingText(pass.left, pass.endsAt) };
      if (!isTheirs) return left;
      const token = await tokens.issue(claimsOf(pass));
      const cookie = cookieAt(req, parts, placesOf.of(req) ?? [], pass.scope);
      if (cookie !== undefined && req.res !== undefined) giveCookie(req.res, cookie, token, pass.endsAt);
      return { ...left, [PASS_HEADER]: token };
    },
  };
}

/** The balance that a payment buys; its own request is the first of its uses. */
function balanceOf({ uses, forMs }: PassRule) {
  const time = defined({ lastsMs: forMs });
  if (uses === undefined) return { kind: 'until', ...time } as const;
  return { kind: 'uses', bought: uses, left: uses - 1n, ...time } as const;
}
