import type { Request, Response } from 'express';
import { givePriceCredit, priceCreditsIn } from '../../facilitator/payments/price-credit.js';
import type { Claim, Facilitator } from '../../facilitator/types.js';
import { type MaybePromise, whenKnown } from '../../lib/maybe-promise.js';
import { siteOfGate } from '../../protocol/networks/pass-site.js';
import type { Terms } from '../../protocol/types.js';
import type { Admitted } from '../gate/gate.js';
import { CREDIT_HEADER, PASS_HEADER, REMAINING_HEADER } from '../gate/pass-headers.js';
import { tellPayment } from '../gate/request-properties.js';
import { exposeHeaders } from '../gate/respond.js';
import { offerSignIn, useUpSignIn } from '../wallet/wallet-auth.js';
import { enterByPass } from './enter-by-pass.js';
import { unchargedHeaders } from './pass-end.js';
import type { KeptPass, PassParts, PassPlace, PassRefusal, UsedPass } from './pass-types.js';
import type { GatePrices } from './price-place.js';
import { useShownPass } from './shown-pass.js';
import type { PassSales } from './sold-passes.js';
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
  /** What one response costs now, in atomic units of a token; undefined where none is sold in it, or only to those who buy more. */
  priceNow(req: Request, mint: string): Promise<bigint | undefined>;
  /** See `PassSales.tellOf`: of credit for the price as well. */
  tellOf(req: Request, paymentId: string, isTheirs: boolean): Promise<PassHeaders>;
}

/** What a gate makes good with. */
export interface CompensationParts {
  readonly facilitator: Pick<Facilitator, 'passes'>;
  readonly baseUrl: string | undefined;
  readonly partsAt: (site: string) => PassParts;
  readonly prices: GatePrices;
  /** Whether a request that fails leaves its payer credit; else that which was left before is taken, where it is shown. */
  readonly isLeaving: boolean;
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
  const { facilitator, prices, isLeaving } = gate;
  const { passes } = facilitator;
  return {
    admit(req, res, isPaying) {
      // Where the price leaves no credit, who has some of earlier shows it: those who do not cost no look at the store.
      if (!isLeaving && !showsCredit(req)) return undefined;
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
      return { ...told, ...notCharged(claim, parts) };
    },
    async priceNow(req, mint) {
      const priced = await prices.placeOf(req);
      return priced?.place.costs?.get(mint)?.amount;
    },
    async tellOf(req, paymentId, isTheirs) {
      const pass = await passes.findByPayment(paymentId);
      if (pass === undefined) return {};
      const { parts, places } = useOf(gate, req, pass.site);
      return passHeaders(parts, req, pass, places, isTheirs);
    },
  };
}

/** The pass of a payment as if its request had taken nothing of it; undefined where it cannot be had. */
async function wholeAgain(
  { facilitator: { passes }, prices, isLeaving, baseUrl }: CompensationParts,
  req: Request,
  claim: FailedClaim,
): Promise<KeptPass | undefined> {
  const { buys, terms } = claim;
  if (buys === undefined && isLeaving) {
    const place = { site: siteOfGate(baseUrl, terms.payTo, terms.network), scope: prices.scopeOf(req) };
    return prices.covers(terms) ? givePriceCredit(passes, claim, place) : undefined;
  }
  const pass = buys?.kind === 'until' ? undefined : await passes.findByPayment(claim.id);
  if (pass === undefined) return undefined;
  await passes.giveBack(pass.id, claim.id);
  return passes.find(pass.id);
}

function showsCredit({ headers }: Request): boolean {
  return headers[PASS_HEADER.toLowerCase()] !== undefined || headers['sign-in-with-x'] !== undefined;
}

function notCharged({ buys, terms: { asset: mint, amount } }: FailedClaim, { symbols }: PassParts): PassHeaders {
  const { kind = 'credit', bought = amount, left = 0n } = buys ?? {};
  return unchargedHeaders({ kind, mint, amount: bought - left }, symbols);
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

function useOf({ partsAt, sales }: CompensationParts, req: Request, site: string): PassUse {
  return { parts: sales?.parts ?? partsAt(site), places: sales?.placesOf(req) ?? [] };
}
