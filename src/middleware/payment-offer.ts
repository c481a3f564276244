import type { Request, Response } from 'express';
import { ERRORS, type ErrorCode, problem } from '../errors.js';
import { PAYWALL_CONTENT_SECURITY_POLICY, paywallPage } from '../pages/paywall.js';
import { DOORS } from '../protocol/doors.js';
import { formatAmount } from '../protocol/money.js';
import type { BlockhashHint, NetworkId, Offer, Refusal, Settlement, Terms, Token } from '../protocol/types.js';
import { describeRoute } from './list-route.js';
import type { ResolvedPaymentOptions } from './payment-options.js';
import { requestIdOf } from './request-id.js';
import { absoluteUrl } from './request-url.js';
import { noteProblemCode, setHeaders } from './respond.js';

/** Headers that scripts of other origins must be able to read. */
export const EXPOSED_HEADERS: readonly string[] = [...DOORS.flatMap((door) => door.exposedHeaders), 'Retry-After'];

/** Why a 402 is sent. */
export interface OfferCause {
  readonly code: ErrorCode;
  /** Sentence for people. */
  readonly detail: string;
  /** The reason of the protocol; default the code. */
  readonly reason?: string;
  /** The settlement that failed, if one was tried. */
  readonly settlement?: Settlement;
}

/** What is offered on this request. */
export interface OpenOffer {
  readonly terms: readonly Terms[];
  readonly hint?: BlockhashHint;
  /** Extensions for this request beside those of the route, as they go over the wire. */
  readonly extensions?: Readonly<Record<string, unknown>>;
}

/** Cause of the first 402, when no payment came. */
export const UNPAID: OfferCause = {
  code: 'payment_required',
  detail: 'This resource has a price; pay one of the offered terms and send the request again.',
};

/** Cause of the 402 for a payment that was refused, or that was sent and failed. */
export function refusalCause(refusal: Refusal & { readonly signature?: string }): OfferCause {
  const code = refusal.signature === undefined ? 'payment_invalid' : 'payment_failed';
  return { code, reason: refusal.reason, detail: refusal.message };
}

/** Answers 402 through every door at once: headers and JSON for clients, a page for browsers. */
export function sendOffer(
  req: Request,
  res: Response,
  options: ResolvedPaymentOptions,
  open: OpenOffer,
  cause: OfferCause,
): void {
  const { status } = ERRORS[cause.code];
  const offer = describeOffer(req, options, open, cause);
  const { network } = options.facilitator;
  noteProblemCode(res, cause.code);
  res.statusCode = status;
  res.setHeader('Cache-Control', 'no-store');
  let body: Record<string, unknown> = { ...problem(cause.code, cause.detail, { request_id: requestIdOf(res) }) };
  for (const door of DOORS) {
    const said = door.offer(offer);
    setHeaders(res, said.headers);
    body = { ...body, ...said.body };
    if (cause.settlement !== undefined) setHeaders(res, door.receipt(cause.settlement, network));
  }
  if (req.accepts(['json', 'html']) === 'html') sendPaywall(res, offer, options, cause);
  else sendJson(res, body);
}

function describeOffer(
  req: Request,
  options: ResolvedPaymentOptions,
  { terms, hint, extensions: own }: OpenOffer,
  cause: OfferCause,
): Offer {
  const extensions = { ...options.extensions, ...own };
  return {
    resource: { url: absoluteUrl(req, options.baseUrl), ...describeRoute(options) },
    terms,
    error: cause.reason ?? cause.code,
    ...(hint === undefined ? {} : { hint }),
    ...(Object.keys(extensions).length === 0 ? {} : { extensions }),
  };
}

function sendJson(res: Response, body: Readonly<Record<string, unknown>>): void {
  res.setHeader('Content-Type', 'application/json; charset=utf-8');
  res.end(JSON.stringify(body));
}

function sendPaywall(
  res: Response,
  { resource, terms }: Offer,
  { facilitator }: ResolvedPaymentOptions,
  cause: OfferCause,
): void {
  const page = paywallPage({
    resource,
    prices: terms.map((it) => priceText(it, facilitator.tokens)),
    network: NETWORK_TITLES[facilitator.network],
    ...(cause === UNPAID ? {} : { problem: cause.detail }),
  });
  res.setHeader('Content-Type', 'text/html; charset=utf-8');
  res.setHeader('Content-Security-Policy', PAYWALL_CONTENT_SECURITY_POLICY);
  res.setHeader('X-Content-Type-Options', 'nosniff');
  res.end(page);
}

const NETWORK_TITLES: Readonly<Record<NetworkId, string>> = {
  solana: 'Solana',
  'solana-devnet': 'Solana devnet',
  'solana-testnet': 'Solana testnet',
};

function priceText({ asset, amount }: Terms, tokens: readonly Token[]): string {
  const token = tokens.find(({ mint }) => mint === asset);
  return token === undefined
    ? `${amount} units of ${asset}`
    : `${formatAmount(amount, token.decimals)} ${token.symbol}`;
}
