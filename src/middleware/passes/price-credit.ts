import type { Request, Response } from 'express';
import { givePriceCredit, priceCreditsIn } from '../../facilitator/payments/price-credit.js';
import type { Claim, Facilitator } from '../../facilitator/types.js';
import { type MaybePromise, whenKnown } from '../../lib/maybe-promise.js';
import type { Terms } from '../../protocol/types.js';
import type { Admitted } from '../gate/gate.js';
import { CREDIT_HEADER, PASS_HEADER, REMAINING_HEADER } from '../gate/pass-headers.js';
import { tellPayment } from '../gate/request-properties.js';
import { exposeHeaders } from '../gate/respond.js';
import { creditText } from '../terms/credit-costs.js';
import { offerSignIn, useUpSignIn } from '../wallet/wallet-auth.js';
import { debitedAs } from './covered-response.js';
import { enterByPass } from './enter-by-pass.js';
import { cookieAt } from './pass-cookie.js';
import { siteOfGate } from './pass-place.js';
import type { KeptPass, PassParts, PassPlace, PassRefusal, UsedPass } from './pass-types.js';
import type { GatePrices } from './price-place.js';
import { claimsOf, useShownPass } from './shown-pass.js';
import type { PassSales } from './sold-passes.js';
import { takeUse } from './take-use.js';
import { type PassHeaders, passHeaders } from './told-pass.js';

/** A payment whose request has failed. */
export type FailedClaim = Pick<Claim, 'id' | 'payer' | 'terms' | 'buys'>;

/** What leaves payers with what they have paid for requests that fail. */
export interface Compensation {
  /** Lets a request in by the credit for its price that it shows, or whose wallet signs in; undefined where it shows none. */
  admit(req: Request, res: Response, isPaying: boolean): MaybePromise<Admitted | PassRefusal | undefined>;
  /**
   * Leaves the payer of a request that has failed with what it has paid, and answers the headers that tell of it: the whole amount as
   * credit for the price, or what the request has taken of the pass that was bought. However often it is asked for, that is done
   * once. Undefined where nothing can be left: the payment is good for the request again.
   * @param isTheirs - whether it is certain who is told: without that the token is left out
   */
  makeGood(req: Request, claim: FailedClaim, isTheirs: boolean): Promise<PassHeaders | undefined>;
  /**
   * Lets a request in that brings its payment again, by what its payer was left with: one request at a time, as long as it takes from
   * it under the name of the payment. Undefined where nothing was left, or where a request has taken that already.
   * @param isTheirs - whether it is certain who comes; nobody else is told a token
   */
  comeAgain(
    req: Request,
    res: Response,
    paymentId: string,
    isTheirs: boolean,
  ): Promise<Admitted | PassRefusal | undefined>;
}

/** What a gate makes good with. */
export interface CompensationParts {
  readonly facilitator: Pick<Facilitator, 'passes'>;
  readonly baseUrl: string | undefined;
  readonly partsAt: (site: string) => PassParts;
  readonly prices: GatePrices;
  /** Told that a request has paid by credit for its price. */
  readonly paid: (req: Request, terms: Terms) => void;
  /** Undefined where no passes are sold. */
  readonly sales: PassSales | undefined;
}

/** What a pass is used with at a gate. */
interface PassUse {
  readonly parts: PassParts;
  readonly places: readonly PassPlace[];
}

const EXPOSED = [PASS_HEADER, REMAINING_HEADER, CREDIT_HEADER];

/** Makes what leaves payers with what they have paid at a gate for requests that fail. */
export function createCompensation(gate: CompensationParts): Compensation {
  const { facilitator, prices } = gate;
  const { passes } = facilitator;
  return {
    admit(req, res, isPaying) {
      const scope = prices.scopeOf(req);
      if (isPaying && req.headers['sign-in-with-x'] === undefined) return undefined;
      if (!isPaying && req.get(PASS_HEADER) !== undefined) return admitByCredit(gate, req, res, isPaying);
      const isThere = priceCreditsIn(passes).isIn(scope);
      return whenKnown(isThere, (it) => (it ? admitByCredit(gate, req, res, isPaying) : undefined));
    },
    async makeGood(req, claim, isTheirs) {
      const pass = await wholeAgain(gate, req, claim);
      if (pass === undefined) return undefined;
      const { parts, places } = useOf(gate, req, pass.site);
      const told = await passHeaders(parts, req, pass, places, isTheirs);
      return { ...told, [CREDIT_HEADER]: notCharged(claim, parts) };
    },
    async comeAgain(req, res, paymentId, isTheirs) {
      const pass = await passes.findByPayment(paymentId);
      const use = pass && (await useOfKept(gate, req, pass));
      if (pass === undefined || use === undefined) return undefined;
      const shown = { shown: claimsOf(pass), by: isTheirs ? 'wallet' : 'token', debitAs: paymentId } as const;
      const used = await takeUse(use.parts, req, shown, use.places);
      if (!used.admitted) return used;
      // At a gate before this one it was taken for this very request.
      if (used.taken?.isRepeated === true && debitedAs(res) === undefined) return undefined;
      const cookie = isTheirs ? cookieAt(req, use.parts, use.places, pass.scope) : undefined;
      return admitted(gate, use, { req, res }, cookie === undefined ? used : { ...used, cookie });
    },
  };
}

/** The pass of a payment as if its request had taken nothing of it; undefined where it cannot be had. */
async function wholeAgain(
  { facilitator: { passes }, prices, baseUrl }: CompensationParts,
  req: Request,
  claim: FailedClaim,
): Promise<KeptPass | undefined> {
  const { buys, terms } = claim;
  if (buys === undefined) {
    const place = { site: siteOfGate(baseUrl, terms.payTo), scope: prices.scopeOf(req) };
    return prices.covers(terms) ? givePriceCredit(passes, claim, place) : undefined;
  }
  const pass = buys.kind === 'until' ? undefined : await passes.findByPayment(claim.id);
  if (pass === undefined) return undefined;
  await passes.giveBack(pass.id, claim.id);
  return passes.find(pass.id);
}

function notCharged({ buys, terms: { asset, amount } }: FailedClaim, { symbols }: PassParts): string {
  if (buys?.kind === 'uses') return '1 use was not charged for this request, and is left of the pass';
  const { bought = amount, left = 0n } = buys ?? {};
  return `${creditText(bought - left, asset, symbols)} was not charged for this request, and pays the next one`;
}

async function admitByCredit(
  gate: CompensationParts,
  req: Request,
  res: Response,
  isPaying: boolean,
): Promise<Admitted | PassRefusal | undefined> {
  const priced = await gate.prices.placeOf(req);
  if (priced === undefined) return undefined;
  const use = { parts: gate.partsAt(priced.site), places: [priced.place] };
  const used = isPaying ? await useUpSignIn(req, use.parts) : await useShownPass(use.parts, req, use.places);
  if (used?.admitted) return admitted(gate, use, { req, res }, used);
  offerSignIn(req, use.parts);
  return used;
}

function admitted(
  { paid }: Pick<CompensationParts, 'paid'>,
  use: PassUse,
  { req, res }: { readonly req: Request; readonly res: Response },
  used: UsedPass,
): Admitted {
  exposeHeaders(res, EXPOSED);
  const { scope, mint } = used.shown;
  const price = use.places.find((it) => it.scope === scope)?.prices?.find(({ asset }) => asset === mint);
  return {
    admitted: true,
    async enter(next) {
      if (price !== undefined) {
        paid(req, price);
        await tellPaid(use.parts, req, used, price);
      }
      return enterByPass(use.parts, req, res, used, next);
    },
  };
}

/** Handlers behind a price find who has paid, and what: the payment that the credit is of. */
async function tellPaid(parts: PassParts, req: Request, { shown }: UsedPass, price: Terms): Promise<void> {
  const paid = await paidFor(parts, shown.passId).catch(() => undefined);
  const learned = { payer: shown.wallet, terms: paid?.terms ?? price };
  tellPayment(req, parts.requestNames, learned, paid?.receipt);
}

async function paidFor({ passes, landed }: PassParts, passId: string) {
  const pass = await passes.find(passId);
  return pass && landed(pass.paymentId);
}

/** What a pass that a payment has made is used with now; undefined where it covers a time, or nothing here any more. */
async function useOfKept(gate: CompensationParts, req: Request, { kind, scope, site }: KeptPass) {
  if (kind === 'until') return undefined;
  if (scope !== gate.prices.scopeOf(req)) return useOf(gate, req, site);
  const priced = await gate.prices.placeOf(req);
  return priced && { parts: gate.partsAt(site), places: [priced.place] };
}

function useOf({ partsAt, sales }: CompensationParts, req: Request, site: string): PassUse {
  return { parts: sales?.parts ?? partsAt(site), places: sales?.placesOf(req) ?? [] };
}
