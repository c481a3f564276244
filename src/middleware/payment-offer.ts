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
import { type WrittenOffer, writtenOffer } from './written-offers.js';

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
  const url = absoluteUrl(req, options.baseUrl);
  const { network } = options.facilitator;
  noteProblemCode(res, cause.code);
  res.statusCode = ERRORS[cause.code].status;
  res.setHeader('Cache-Control', 'no-store');
  const id = requestIdOf(res);
  const { terms, hint, extensions } = open;
  const write = () => writeOffer(url, options, open, cause);
  // A challenge is good for one request.
  const isFresh = extensions !== undefined && Object.keys(extensions).length > 0;
  const written = isFresh ? write() : writtenOffer({ url, options, terms, hint, cause }, write);
  setHeaders(res, written.headers);
  if (cause.settlement !== undefined) {
    for (const door of DOORS) setHeaders(res, door.receipt(cause.settlement, network));
  }
  if (wantsPage(req)) sendPaywall(res, written.offer, options, cause);
  else sendJson(res, written, id);
}

/** Most clients name no text and no preferences; then JSON, which we name first, is what they get. */
function wantsPage(req: Request): boolean {
  const { accept } = req.headers;
  return accept !== undefined && /html|text\/|;/i.test(accept) && req.accepts(['json', 'html']) === 'html';
}

function writeOffer(
  url: string,
  options: ResolvedPaymentOptions,
  open: OpenOffer,
  { code, detail, reason = code }: OfferCause,
): WrittenOffer {
  const offer = describeOffer(url, options, open, reason);
  const said = DOORS.map((door) => door.offer(offer));
  return {
    offer,
    headers: Object.assign({}, ...said.map(({ headers }) => headers)),
    // Two halves of one object: what differs from answer to answer comes between them.
    head: JSON.stringify(problem(code, detail)).slice(0, -1),
    tail: JSON.stringify(Object.assign({}, ...said.map(({ body }) => body))).slice(1),
  };
}

function describeOffer(
  url: string,
  options: ResolvedPaymentOptions,
  { terms, hint, extensions: own }: OpenOffer,
  error: string,
): Offer {
  const extensions = { ...options.extensions, ...own };
  return {
    resource: { url, ...describeRoute(options) },
    terms,
    error,
    ...(hint === undefined ? {} : { hint }),
    ...(Object.keys(extensions).length === 0 ? {} : { extensions }),
  };
}

function sendJson(res: Response, { head, tail }: WrittenOffer, requestId: string): void {
  res.setHeader('Content-Type', 'application/json; charset=utf-8');
  res.end(`${head},"request_id":${JSON.stringify(requestId)},${tail}`);
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
