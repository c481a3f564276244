import type { OutgoingHttpHeaders } from 'node:http';
import type { Request, Response } from 'express';
import { ERRORS, type ErrorCode, problem } from '../../errors/errors.js';
import { memberOn } from '../../facilitator/networks/joined-facilitator.js';
import type { Facilitator } from '../../facilitator/types.js';
import { defined } from '../../lib/defined.js';
import type { BlockhashHints, Challenge } from '../../protocol/challenge.js';
import { CODECS } from '../../protocol/codecs/codecs.js';
import { newNonce } from '../../protocol/codecs/nonce-header.js';
import type { NetworkId, Receipt, Refusal, Settlement, Terms } from '../../protocol/types.js';
import { sendPaywallPage } from '../browser/paywall-response.js';
import type { PreparedPayment } from '../browser/prepared-payment.js';
import { shortfallOf } from '../browser/shortfall.js';
import { keepUncached } from '../gate/cache-control.js';
import { mustHoldOf } from '../gate/must-hold-notes.js';
import { requestIdOf } from '../gate/request-id.js';
import { absoluteUrl } from '../gate/request-url.js';
import { EXPOSE_HEADERS, exposeHeaders, noteProblemCode, setHeaders, withExposed } from '../gate/respond.js';
import { wantsPage } from '../gate/wants-page.js';
import { type WrittenChallenge, writtenChallenge } from '../terms/challenge-cache.js';
import { describeRoute, paymentFlowOf } from '../terms/list-route.js';
import type { ResolvedPaymentOptions } from '../terms/payment-options.js';

/** Headers that scripts of other origins must be able to read. */
export const EXPOSED_HEADERS: readonly string[] = [...CODECS.flatMap((codec) => codec.exposedHeaders), 'Retry-After'];

/** Headers of a request that decide if it is paid, as `Vary` lists them. */
export const PAYMENT_VARY = CODECS.map((codec) => codec.requestHeader).join(', ');

/** Why a 402 is sent. */
export interface RequiredCause {
  readonly code: ErrorCode;
  /** Sentence for people. */
  readonly detail: string;
  /** The reason of the protocol; default the code. */
  readonly reason?: string;
  /** What may be bought, in a sentence, where that is more than one request. */
  readonly offers?: string;
  /** What holders pay, in a sentence, for the page, which shows the offers themselves. */
  readonly forHolders?: string | undefined;
  /** The settlement that failed, if one was tried. */
  readonly settlement?: Settlement;
  /** Headers that tell what is left of what was paid before. */
  readonly told?: Readonly<Record<string, string>>;
  /** Extensions for this cause, as they go over the wire. */
  readonly extensions?: Readonly<Record<string, unknown>>;
}

/** What is offered on this request. */
export interface OfferedTerms {
  readonly terms: readonly Terms[];
  readonly hints: BlockhashHints;
  /** The network of the payment that was brought. Default: the first of the gate. */
  readonly network?: NetworkId;
  /** Extensions for this request beside those of the route, as they go over the wire. */
  readonly extensions?: Readonly<Record<string, unknown>>;
  /** The payment that was asked for with the request, to be signed. */
  readonly prepared?: PreparedPayment;
}

/** Cause of the first 402, when no payment came. */
export const UNPAID: RequiredCause = {
  code: 'payment_required',
  detail: 'This resource has a price; pay one of the offered terms and send the request again.',
};

/** Cause of the 402 for a payment that is for other terms. */
export const NO_MATCH: RequiredCause = {
  code: 'no_matching_requirements',
  detail: 'The payment is for other terms than this resource offers; the offered ones are in this answer.',
};

/** Cause of the 402 for a payment that was used up, and whose response is not the asker's. */
export const USED: RequiredCause = {
  code: 'payment_already_used',
  detail:
    'This payment was used before, for another request or by somebody else, or its response is no longer kept. Pay again to get one.',
};

const NOT_KEPT = 'This payment was used for this very request, and its response is';

/** The same for its own asker, whose response is not there: where the money comes first, a long one leaves without being kept. */
export const USED_UNKEPT: Readonly<Record<'before' | 'after', RequiredCause>> = {
  before: {
    ...USED,
    detail: `${NOT_KEPT} not kept: kept are those that have ended whole and have at most 1 MiB, for 24 hours. Pay again to get another one.`,
  },
  after: { ...USED, detail: `${NOT_KEPT} no longer kept. Pay again to get another one.` },
};

/** Cause of the 402 for a payment whose handler failed each time. */
export const TRIED_OUT: RequiredCause = {
  code: 'payment_already_used',
  detail: 'The request of this payment was tried several times and failed each time; it is tried no more.',
};

/** The same where nothing was left to its payer. */
export const STILL_OWED: RequiredCause = {
  ...TRIED_OUT,
  detail: `${TRIED_OUT.detail} What was paid is not given back here, and is in the books as owed: ask its seller for it before you pay again.`,
};

/** Cause of the 402 for a payment that has landed, and of which less was asked than its request is asked for now. */
export const ASKED_MORE: RequiredCause = {
  code: 'no_matching_requirements',
  detail:
    'This request is asked for more now than was paid for it, or for somebody else. What was paid stays good for the request that was asked for that.',
};

/** A cause that says as well what may be bought. */
export function withOffers(cause: RequiredCause, offers: string, forHolders?: string): RequiredCause {
  return { ...cause, detail: `${cause.detail} ${offers}`, offers, forHolders };
}

/** A cause that tells of the money that has landed, where it has. */
export function withReceipt(cause: RequiredCause, receipt: Receipt | undefined): RequiredCause {
  return receipt === undefined ? cause : { ...cause, settlement: { status: 'settled', receipt } };
}

/** The headers of a paid response: those of its handler, with the receipt. */
export function paidHeaders(
  headers: OutgoingHttpHeaders,
  receipt: Readonly<Record<string, string>>,
): OutgoingHttpHeaders {
  return {
    ...headers,
    ...receipt,
    [EXPOSE_HEADERS]: withExposed(headers[EXPOSE_HEADERS.toLowerCase()], EXPOSED_HEADERS),
  };
}

/** Cause of the 402 for a payment that was refused, or that was sent and failed, or that has landed before and is in no books; a wallet that pays nothing here is told so with a 403. */
export function refusalCause(refusal: Refusal): RequiredCause {
  const { reason, message: detail, signature } = refusal;
  if (reason === 'wallet_suspended') return { code: reason, reason, detail };
  if (signature === undefined) return { code: 'payment_invalid', reason, detail };
  return { code: reason === 'duplicate_settlement' ? 'payment_already_used' : 'payment_failed', reason, detail };
}

/** Answers 402 in every protocol at once: headers and JSON for clients, a page for browsers. */
export function sendPaymentRequired(
  req: Request,
  res: Response,
  options: ResolvedPaymentOptions,
  open: OfferedTerms,
  cause: RequiredCause,
): void {
  const url = absoluteUrl(req, options.baseUrl);
  noteProblemCode(res, cause.code);
  res.statusCode = ERRORS[cause.code].status;
  keepUncached(res);
  const id = requestIdOf(res);
  const { terms, hints, prepared } = open;
  const write = () => writeOffer(url, options, open, cause);
  // A challenge is good for one request.
  const isFresh = open.extensions !== undefined || cause.extensions !== undefined;
  const written = isFresh
    ? write()
    : writtenChallenge({ url, owner: options.facilitator, options, terms, hints, cause }, write);
  const nonce = newNonce();
  for (const headers of written.headers) setHeaders(res, headers(nonce));
  if (cause.told !== undefined) {
    setHeaders(res, cause.told);
    exposeHeaders(res, Object.keys(cause.told));
  }
  if (cause.settlement !== undefined) {
    for (const codec of CODECS)
      setHeaders(res, codec.receipt(cause.settlement, open.network ?? options.facilitator.network));
  }
  if (prepared !== undefined || !wantsPage(req)) return sendJson(res, written, id, prepared);
  sendPage(req, res, written.challenge, options, cause);
}

function writeOffer(
  url: string,
  options: ResolvedPaymentOptions,
  open: OfferedTerms,
  { code, detail, reason = code, extensions }: RequiredCause,
): WrittenChallenge {
  const challenge = describeChallenge(
    url,
    options,
    { ...open, extensions: { ...open.extensions, ...extensions } },
    reason,
  );
  const said = CODECS.map((codec) => codec.challenge(challenge));
  // Two halves of one object: what differs from response to response comes between them.
  const head = JSON.stringify(problem(code, detail)).slice(0, -1);
  const tail = JSON.stringify(Object.assign({}, ...said.map(({ body }) => body))).slice(1);
  const headers = said.map((it) => it.headers).filter((it) => it !== undefined);
  return { challenge, headers, head, tail, isAscii: isAscii(head + tail) };
}

function describeChallenge(
  url: string,
  options: ResolvedPaymentOptions,
  { terms, hints, extensions: own }: OfferedTerms,
  error: string,
): Challenge {
  const extensions = { ...options.extensions, ...own };
  const paymentFlow = paymentFlowOf(options);
  return {
    resource: { url, ...describeRoute(options) },
    terms,
    error,
    hints,
    ...defined({ paymentFlow }),
    ...(Object.keys(extensions).length === 0 ? {} : { extensions }),
  };
}

function sendJson(
  res: Response,
  written: WrittenChallenge,
  requestId: string,
  prepared: PreparedPayment | undefined,
): void {
  const prepare = prepared === undefined ? '' : `,"prepared":${JSON.stringify(prepared)}`;
  const own = `"request_id":${JSON.stringify(requestId)}${prepare}`;
  res.setHeader('Content-Type', 'application/json; charset=utf-8');
  // ASCII is the same in both, and for a text in UTF-8 Node has thrice its length ready.
  const encoding = written.isAscii && isAscii(own) ? 'latin1' : 'utf8';
  res.end(`${written.head},${own},${written.tail}`, encoding);
}

function isAscii(text: string): boolean {
  return Buffer.byteLength(text) === text.length;
}

function sendPage(
  req: Request,
  res: Response,
  challenge: Challenge,
  { facilitator, page }: ResolvedPaymentOptions,
  cause: RequiredCause,
): void {
  const { network, tokens } = shownNetwork(facilitator, challenge.terms);
  const { code, offers, forHolders: note, detail, reason } = cause;
  const isFirst = cause === UNPAID || offers !== undefined;
  const problem = isFirst ? shortfallOf(req) : { code, detail, reason };
  const terms = challenge.terms.filter((it) => it.network === network);
  const said = { mustHold: mustHoldOf(req), note, problem };
  sendPaywallPage(req, res, { challenge: { ...challenge, terms }, network, tokens, page, ...said });
}

/** A page's wallet is on one network: the first that is offered. */
function shownNetwork(facilitator: Facilitator, [first]: readonly Terms[]): Pick<Facilitator, 'network' | 'tokens'> {
  return (first && memberOn(facilitator, first.network)) ?? facilitator;
}
