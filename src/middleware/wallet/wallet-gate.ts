import type { NextFunction, Request, Response } from 'express';
import { z } from 'zod';
import { type Holdings, holdingsOf } from '../../access/holdings.js';
import { type ErrorCode, TollhouseError } from '../../errors/errors.js';
import type { Facilitator } from '../../facilitator/types.js';
import { identityOf } from '../../identity/default-identity.js';
import type { Identity, ProofScope, ProvenWallet } from '../../identity/types.js';
import { baseUrlSchema } from '../../lib/http/base-url.js';
import { type MaybePromise, whenKnown, whenKnownOr } from '../../lib/maybe-promise.js';
import { type PageOptions, pageOptions } from '../../pages/layout/page-options.js';
import type { MustHold } from '../../pages/texts/must-hold.js';
import type { Lack } from '../../pages/texts/refusals/lack.js';
import { showOutages } from '../browser/outage-page.js';
import { forgetShortfall, noteShortfall, shortfallOf } from '../browser/shortfall.js';
import { keepPrivate } from '../gate/cache-control.js';
import { createGate, type Decision, type Gate, type Refused } from '../gate/gate.js';
import { tellingMustHold } from '../gate/must-hold-notes.js';
import { type RequestNames, requestNamesOption, tell } from '../gate/request-properties.js';
import { exposeHeaders, sendProblem } from '../gate/respond.js';
import { withSignIns } from '../gate/sign-ins-wanted.js';
import { wantsPage } from '../gate/wants-page.js';
import { observeGate } from '../tracing/gate-request.js';
import { type AdmittingParts, admittedBefore, noteAdmitted } from './admitted-before.js';
import { callerUrl } from './caller-request.js';
import { keptSignIn, signedOut } from './keep-sign-in.js';
import { refuseStranger } from './refuse-stranger.js';
import { sendSignInPage } from './sign-in-page.js';
import { anyProof, isToken, offerSignIn, proofOf } from './wallet-auth.js';
import { watchSite } from './watch-site.js';

/** Options that all gates by wallet have. */
export interface WalletGateOptions {
  /** Reads the chain; made by `createFacilitator`. */
  readonly facilitator: Facilitator;
  /**
   * Finds out whose wallet calls; made by `createIdentity`. Default: one that all gates on this facilitator share, which takes
   * SIGN-IN-WITH-X and no tokens.
   */
  readonly identity?: Identity | undefined;
  /** What wallets hold. Default: what all gates on this facilitator share, at most 15 s old. */
  readonly holdings?: Holdings | undefined;
  /**
   * Address under which clients reach this server; a sign-in and an access token are good for its host only. Default: that of the
   * router with the same `identity`, or from the request to a loopback host.
   */
  readonly baseUrl?: string | undefined;
  /**
   * What a sign-in has to be for: `request`, this one's method and path, or `site`, so that a client can sign before it knows what it
   * will ask for; one for the request is good there too. Default `request`.
   */
  readonly scope?: ProofScope | undefined;
  /**
   * `{ wallet: 'holder' }` tells the handler on `req.holder`, `{ wallet: false }` on no property of the request, for apps that have
   * a `req.wallet` of their own; `walletOf(req)` returns it either way. Default: `req.wallet`.
   */
  readonly requestNames?: RequestNames<'wallet'> | undefined;
  /** How the page looks on which browsers sign in, and what it says. Default: ours, in the reader's language. */
  readonly page?: PageOptions | undefined;
}

/** Schema of {@link WalletGateOptions}, field by field. */
export const walletGateOptions = {
  facilitator: z.custom<Facilitator>(
    (it) => typeof Reflect.get(Object(it), 'readHolding') === 'function',
    'a facilitator, made by createFacilitator',
  ),
  identity: z
    .custom<Identity>((it) => typeof Reflect.get(Object(it), 'prove') === 'function', 'an identity')
    .optional(),
  holdings: z
    .custom<Holdings>((it) => typeof Reflect.get(Object(it), 'readHolding') === 'function', 'made by createHoldings')
    .optional(),
  baseUrl: baseUrlSchema.optional(),
  scope: z.enum(['request', 'site'], '"request" or "site"').default('request'),
  requestNames: requestNamesOption('wallet'),
  page: pageOptions.optional(),
};

/** What a gate by wallet works with. */
export interface WalletGateParts extends AdmittingParts {
  readonly holdings: Holdings;
  readonly requestNames: { readonly wallet: string | false };
}

type ResolvedWalletOptions = Readonly<z.output<z.ZodObject<typeof walletGateOptions>>>;

/** Fills in what gates on one facilitator share. */
export function walletGateParts(options: ResolvedWalletOptions): WalletGateParts {
  const { facilitator, identity, holdings, baseUrl, scope, requestNames, page } = options;
  if (identity === undefined) watchSite(identityOf(facilitator), baseUrl);
  return {
    facilitator,
    requestNames,
    identity: identity ?? identityOf(facilitator),
    holdings: holdings ?? holdingsOf(facilitator),
    suspensions: facilitator.storage?.gateway.suspensions,
    baseUrl,
    scope,
    page,
  };
}

/** What a rule says about a proven wallet: it may pass, or what it lacks. */
export type Verdict = (
  | { readonly ok: true }
  | {
      readonly ok: false;
      readonly code: ErrorCode;
      /** Sentence for people. */
      readonly detail: string;
      /** Further members of the problem body. */
      readonly missing: Readonly<Record<string, unknown>>;
      /** What is lacking, for pages. Default: no more than the code says. */
      readonly lack?: Lack;
    }
) & {
  /** What was learned on the way, for {@link WalletJudge.tell}. */
  readonly note?: string;
  /** The wallet whose holdings count, where the proven one stands for another. */
  readonly holder?: string;
};

/** The rule of a gate by wallet. */
export interface WalletJudge {
  /** What it asks for, the same in every process. */
  readonly name: string;
  /** The same, for people. */
  readonly mustHold: MustHold;
  judge(req: Request, wallet: string): MaybePromise<Verdict>;
  /** Tells the handlers what was learned of a wallet. Default: nothing is. */
  tell?(req: Request, note: string): void;
}

/** What somebody who asks wallets for something works with. */
export interface RuleOfGate {
  readonly parts: WalletGateParts;
  readonly judge: WalletJudge;
  /** What is asked for, in words: `the tier "gold"`. */
  readonly inWords: string;
}

/** The verdict on a wallet that has what it takes. */
export const PASSED: Verdict = { ok: true };

const EXPOSED = ['WWW-Authenticate', 'Retry-After'];

/** A gate that wants a proven wallet which passes a rule. */
export function walletGate(where: string, parts: WalletGateParts, rule: WalletJudge): Gate {
  const { name, mustHold, tell: tellNote } = rule;

  function decide(req: Request, res: Response): MaybePromise<Decision> {
    observeGate(parts.facilitator.observed, req, res);
    return whenKnown(decideNow(req, res), (decision) => {
      if (decision.admitted) return decision;
      return whenKnown(admittedBefore(req, parts, name), (before) =>
        before === undefined ? decision : enter(req, res, before.wallet, before.note),
      );
    });
  }

  function decideNow(req: Request, res: Response): MaybePromise<Decision> {
    return whenKnown(anyProof(req, parts), (proof) => {
      if (proof.status !== 'proven')
        return tellingMustHold(req, refuseStranger(where, req, res, parts, proof), [mustHold]);
      return whenKnown(judged(rule, req, proof.wallet.address), (verdict) => {
        const { note } = verdict;
        if (verdict.ok) return isToken(proof) ? enter(req, res, proof.wallet, note) : enterOnce(req, res, note);
        // A sign-in that lets nobody in stays unused, and is not told of: it could be sent again.
        if (isToken(proof)) tellOf(req, proof.wallet, note);
        return tooLittle(verdict, req, res, parts);
      });
    });
  }

  function enterOnce(req: Request, res: Response, note: string | undefined): MaybePromise<Decision> {
    return whenKnown(proofOf(req, parts), (proof) => {
      if (proof.status !== 'proven') return refuseStranger(where, req, res, parts, proof);
      return enter(req, res, proof.wallet, note);
    });
  }

  function enter(req: Request, res: Response, wallet: ProvenWallet, note: string | undefined): Decision {
    tellOf(req, wallet, note);
    forgetShortfall(req);
    noteAdmitted(req, parts, { gate: name, wallet, note });
    return { admitted: true, enter: (next) => enterPrivately(res, next) };
  }

  function tellOf(req: Request, wallet: ProvenWallet, note: string | undefined): void {
    tell(req, parts.requestNames, 'wallet', () => wallet);
    if (note !== undefined) tellNote?.(req, note);
  }

  const decideOrKeep = (req: Request, res: Response): MaybePromise<Decision> =>
    keptSignIn(req, res, parts)?.then((kept) => kept ?? decide(req, res)) ?? decide(req, res);
  const admit = (req: Request, res: Response) => {
    showOutages(req, res, { network: parts.facilitator.network, page: parts.page, url: () => callerUrl(req, parts) });
    return whenKnownOr(
      () => signedOut(req, res, parts) ?? decideOrKeep(req, res),
      (decision) => {
        if (!decision.admitted) exposeHeaders(res, EXPOSED);
        return decision;
      },
      (error) => {
        exposeHeaders(res, EXPOSED);
        throw error;
      },
    );
  };
  return withSignIns(createGate(where, admit), [parts]);
}

/** What a rule says about a wallet, which may be one that cannot be looked at. */
export function judged({ judge }: WalletJudge, req: Request, wallet: string): MaybePromise<Verdict> {
  return whenKnownOr(
    () => judge(req, wallet),
    (verdict) => verdict,
    verdictOn,
  );
}

/** A wallet that cannot be looked at is no outage: it is refused, and may still be let in for something else that it has. */
function verdictOn(error: unknown): Verdict {
  if (!(error instanceof TollhouseError) || error.code !== 'wallet_too_large') throw error;
  return { ok: false, code: error.code, detail: error.message, missing: {} };
}

function tooLittle(
  { code, detail, missing, lack }: Extract<Verdict, { ok: false }>,
  req: Request,
  res: Response,
  parts: WalletGateParts,
): Refused {
  noteShortfall(req, { code, detail, lack });
  function answer(): MaybePromise<void> {
    if (!wantsPage(req)) return sendProblem(res, code, detail, { more: missing });
    // Another wallet may have what this one lacks.
    offerSignIn(req, parts);
    return sendSignInPage(req, res, parts, { code, refusal: shortfallOf(req) ?? { code, detail, lack } });
  }
  return { admitted: false, wants: 'wallet', presented: true, answer };
}

/** Lets a request on whose response is for its caller only. */
export function enterPrivately(res: Response, next: NextFunction): void {
  keepPrivate(res);
  next();
}
