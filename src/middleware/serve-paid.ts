import type { NextFunction, Request, Response } from 'express';
import { TollhouseError } from '../errors.js';
import type { Claim } from '../facilitator/types.js';
import type { Door } from '../protocol/door.js';
import type { Settlement } from '../protocol/types.js';
import { beforeHead } from './apply-head.js';
import { callHook } from './call-hook.js';
import { delivered, isGone } from './delivered.js';
import { type HeldAnswer, type HoldEnd, holdAnswer, sendHeldAnswer } from './held-answer.js';
import type { KeptAnswers } from './kept-answers.js';
import { EXPOSED_HEADERS, type OfferCause, refusalCause } from './payment-offer.js';
import type { ResolvedPaymentOptions } from './payment-options.js';
import { REQUEST_ID_HEADER } from './request-id.js';
import {
  EXPOSE_HEADERS,
  exposeHeaders,
  privateCacheControl,
  sendError,
  sendProblem,
  setHeaders,
  withExposed,
} from './respond.js';

/** A request whose payment is held for it. */
export interface PaidRequest {
  readonly req: Request;
  readonly res: Response;
  readonly next: NextFunction;
  readonly options: ResolvedPaymentOptions;
  readonly door: Pick<Door, 'receipt'>;
  readonly claim: Claim;
  /** Answers 402 with fresh terms. */
  offer(cause: OfferCause): void;
}

/** Writes to the response past whatever holds it. */
type Answer = (write: () => void) => void;

const PENDING_RETRY_SECONDS = 2;

/**
 * The handler first, then the money, then the answer. Whoever pays gets an answer, and whoever gets an answer has paid;
 * an error of the handler costs nothing, and of its answer nothing leaves before the money has landed.
 */
export async function serveAfterHandler(paid: PaidRequest, kept: KeptAnswers): Promise<void> {
  const { req, res, next, claim, options } = paid;
  const earlier = kept.find(claim.id, req.originalUrl);
  if (earlier !== undefined) return takeAndAnswer(paid, kept, renewed(earlier, res), (write) => write());
  const holding = holdAnswer(res, { maxBytes: options.maxHeldBytes, timeoutMs: options.handlerTimeoutMs });
  next();
  const end = await holding.ended;
  try {
    if (end.why === 'answered' && end.answer.statusCode < 400)
      return await takeAndAnswer(paid, kept, end.answer, holding.answer);
    await claim.release();
    if (end.why !== 'client_gone') holding.answer(() => answerUncharged(paid, end));
  } catch (error) {
    // Somebody must still be able to tell the client.
    holding.giveUp();
    throw error;
  }
}

/** Headers of an exchange rather than of its answer. */
const EXCHANGE_HEADERS = [REQUEST_ID_HEADER, 'RateLimit', 'RateLimit-Policy'];

/** An answer that was kept for another request, with the headers of the exchange that it leaves in. */
function renewed(kept: HeldAnswer, res: Response): HeldAnswer {
  const own = EXCHANGE_HEADERS.map((name) => [name.toLowerCase(), res.getHeader(name)] as const);
  return { ...kept, headers: { ...kept.headers, ...Object.fromEntries(own) } };
}

function answerUncharged({ res, options }: PaidRequest, end: HoldEnd): void {
  if (end.why === 'answered') return sendHeldAnswer(res, end.answer, {});
  // The handler may still be at work. Whatever it does to this connection, the client comes again on another one.
  res.shouldKeepAlive = false;
  if (end.why === 'timeout') {
    const detail = `No answer came within ${options.handlerTimeoutMs} ms. Nothing was charged; the same payment can be sent again.`;
    return sendProblem(res, 'handler_timeout', detail);
  }
  const detail = `The answer is larger than ${options.maxHeldBytes} bytes, so it cannot be held until it is paid; nothing was charged. Its seller can raise "maxHeldBytes" or use settle: "before".`;
  return sendProblem(res, 'answer_too_large', detail);
}

async function takeAndAnswer(paid: PaidRequest, kept: KeptAnswers, held: HeldAnswer, answer: Answer): Promise<void> {
  const { req, res, claim, door, options } = paid;
  const settlement = await takeMoney(paid, answer);
  if (settlement?.status !== 'settled') {
    // A payment whose outcome is open, or that could not be sent, comes again: the handler has done its work already.
    if (settlement?.status !== 'failed') kept.keep(claim.id, req.originalUrl, held);
    return;
  }
  const headers = {
    ...door.receipt(settlement, options.facilitator.network),
    'Cache-Control': privateCacheControl(held.headers['cache-control']),
    [EXPOSE_HEADERS]: withExposed(held.headers[EXPOSE_HEADERS.toLowerCase()], EXPOSED_HEADERS),
  };
  const delivery = delivered(res, { afterMs: options.handlerTimeoutMs, flows: () => true });
  answer(() => sendHeldAnswer(res, held, headers));
  if (await delivery) {
    kept.drop(claim.id);
    return claim.complete();
  }
  kept.keep(claim.id, req.originalUrl, held);
  return claim.release();
}

/**
 * The money first, then the handler, whose answer flows as it is written. A payment whose answer failed or did not arrive
 * stays good for the same request.
 */
export async function serveBeforeHandler(paid: PaidRequest): Promise<void> {
  const { req, res, next, claim, door, options } = paid;
  const settlement = await takeMoney(paid, (write) => write());
  if (settlement?.status !== 'settled') return;
  if (isGone(res)) return claim.release();
  req.payment = { payer: claim.payer, terms: claim.terms, receipt: settlement.receipt };
  setHeaders(res, door.receipt(settlement, options.facilitator.network));
  beforeHead(res, () => {
    res.setHeader('Cache-Control', privateCacheControl(res.getHeader('Cache-Control')));
    exposeHeaders(res, EXPOSED_HEADERS);
  });
  const delivery = delivered(res, { afterMs: options.handlerTimeoutMs, flows: () => res.headersSent });
  next();
  const served = (await delivery) && res.statusCode < 400;
  await (served ? claim.complete() : claim.release());
}

/** Settles the claim. Unless the money has landed, the request is answered and the claim released here. */
export async function takeMoney(paid: PaidRequest, answer: Answer): Promise<Settlement | undefined> {
  const { req, res, claim, options, door } = paid;
  const settlement = await claim.settle().catch(async (error: unknown) => {
    await claim.release();
    if (!(error instanceof TollhouseError)) throw error;
    answer(() => sendError(res, error));
    return undefined;
  });
  if (settlement?.status === 'settled') {
    callHook('onSettled', options.onSettled, { req, receipt: settlement.receipt });
    return settlement;
  }
  if (settlement === undefined) return undefined;
  await claim.release();
  if (settlement.status === 'pending') {
    answer(() => sendPending(res, door.receipt(settlement, options.facilitator.network)));
    return settlement;
  }
  callHook('onFailed', options.onFailed, { req, refusal: settlement });
  answer(() => paid.offer({ ...refusalCause(settlement), settlement }));
  return settlement;
}

/** Answers that the outcome is not known yet; `receipt` names the transaction. */
export function sendPending(res: Response, receipt: Readonly<Record<string, string>>): void {
  const detail =
    'The payment was sent and its outcome is not known yet. Send the same payment again to learn it; do not pay anew.';
  sendProblem(res, 'settlement_pending', detail, { headers: receipt, retryAfterSeconds: PENDING_RETRY_SECONDS });
}
