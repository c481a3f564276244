import type { NextFunction, Request, Response } from 'express';
import { defined } from '../../lib/defined.js';
import { headHook } from '../../lib/http/write-head.js';
import type { MaybePromise } from '../../lib/maybe-promise.js';
import { withAmountJson } from '../../protocol/money/amount-json.js';
import { addVary, setPrivate } from '../gate/cache-control.js';
import { PASS_HEADER } from '../gate/pass-headers.js';
import { type RequestPass, tell } from '../gate/request-properties.js';
import { setHeaders } from '../gate/respond.js';
import { holdBack } from '../response/hold-back.js';
import { closed, comesToEnd, watchBreak } from '../response/response-end.js';
import { noteOutcome } from '../tracing/gate-request.js';
import { type CoveredResponse, coveredBy, noteCovered } from './covered-response.js';
import { giveCookie } from './pass-cookie.js';
import { type PassEnd, remainingHeaders, unchargedHeaders } from './pass-end.js';
import type { PassParts, UsedPass } from './pass-types.js';

/**
 * How many times as long as its client would have been kept waiting a handler may go on for one who is gone: given back while it works,
 * a use would buy its work again and again. After so long it is taken for one that never ends.
 */
const PATIENCE = 20;

/**
 * Lets a request on that a pass covers. What it has taken is given back where its client is gone before the handler is asked,
 * where its response has no price or never comes, and where this side broke it off; the header says what is left then, and leaves when
 * that is so.
 */
export function enterByPass(
  parts: PassParts,
  req: Request,
  res: Response,
  used: UsedPass,
  next: NextFunction,
): MaybePromise<void> {
  const { shown, taken } = used;
  if (taken !== undefined && req.socket.destroyed) return giveBack(parts, shown.passId, taken.requestId);
  const go = (): void => letIn(parts, req, res, used, next);
  // The wallet itself has shown it: it may have another token. A key may be good for less than a token is.
  if (used.by !== 'wallet') return go();
  return giveToken(parts, res, used).then(go, async (error: unknown) => {
    if (taken !== undefined) await giveBack(parts, shown.passId, taken.requestId);
    throw error;
  });
}

function letIn(parts: PassParts, req: Request, res: Response, used: UsedPass, next: NextFunction): void {
  const { shown, taken } = used;
  setHeaders(res, remainingHeaders({ ...shown, ...used.end }, used.left, parts.symbols));
  tell(req, parts.requestNames, 'pass', () => requestPass(used));
  const response = noteCovered(res, used, parts);
  completeHeads(res);
  next();
  if (taken === undefined) return;
  const isOver = res.writableEnded && response.isCharged && used.meter === undefined;
  if (isOver) tellSpent(res, response);
  else void followEnd(res, response);
}

async function giveToken({ tokens }: PassParts, res: Response, { shown, cookie }: UsedPass): Promise<void> {
  const token = await tokens.issue(shown);
  res.setHeader(PASS_HEADER, token);
  if (cookie !== undefined) giveCookie(res, cookie, token, shown.endsAt);
}

/** What is written at once, as most is, is whole; all else is watched until its end. */
async function followEnd(res: Response, response: CoveredResponse): Promise<void> {
  const isSpent = res.writableEnded ? response.isCharged : await isServed(res, response);
  if (!isSpent) return giveAllBack(response);
  const { meter } = response.used;
  if (meter === undefined) tellSpent(res, response);
  else await meter.end(true);
}

/** Of a request that several gates have let in each may still have it given back: it is not spent by one of them. */
function tellSpent(res: Response, response: CoveredResponse): void {
  const { before, used, parts } = response;
  if (used.taken === undefined || before !== undefined || coveredBy(res) !== response) return;
  response.isSpent = true;
  parts.passes.spent?.(used.shown.passId, used.taken.requestId);
}

async function isServed(res: Response, response: CoveredResponse): Promise<boolean> {
  const { parts, used } = response;
  const isBrokenHere = watchBreak(res);
  await closed(res);
  if (!res.writableEnded && isBrokenHere()) return response.isCharged && used.meter?.isKept === true;
  if (response.givenBack !== undefined) return false;
  const patienceMs = parts.handlerTimeoutMs * PATIENCE;
  // A handler may say at its end what it cost.
  if (res.headersSent && used.meter !== undefined) await comesToEnd(res, patienceMs);
  if (res.headersSent) return response.isCharged;
  try {
    // Who hangs up on a handler that comes to its end has had its work, and so has he who hangs up on one that charges.
    const end = await comesToEnd(res, patienceMs);
    return end === 'ended' ? parts.charges(res) : (used.meter?.isCharged ?? false);
  } catch {
    return false;
  }
}

/** Gives back what a request has taken whose response has no price, once, whoever says so first. */
function giveAllBack(response: CoveredResponse): Promise<void> {
  const { used, parts } = response;
  const { taken, meter, shown } = used;
  if (taken === undefined) return Promise.resolve();
  const settled = meter?.end(false) ?? Promise.resolve();
  response.givenBack ??= settled.then(() => giveBack(parts, shown.passId, taken.requestId));
  return response.givenBack;
}

function giveBack(parts: PassParts, passId: string, requestId: string): Promise<void> {
  const { passes } = parts;
  return parts.giveBack(`the pass ${passId}`, () => passes.giveBack(passId, requestId));
}

const completeHeads = headHook((res) => {
  setPrivate(res);
  for (let response = coveredBy(res); response !== undefined; response = response.before) {
    addVary(res, response.parts.vary);
    response.isCharged = response.parts.charges(res as Response);
    const left = leftBehind(response);
    const { used, parts } = response;
    if (left !== used.left) setHeaders(res as Response, remainingHeaders(used.shown, left, parts.symbols));
    if (response.isCharged) continue;
    noteOutcome(res as Response, 'uncharged');
    setHeaders(res as Response, unchargedHeaders({ ...used.shown, amount: takenFor(used) }, parts.symbols));
    if (used.taken === undefined || response.givenBack !== undefined) continue;
    // Whoever reads that all of it is left may send the next request at once.
    holdBack(res, giveAllBack(response));
  }
});

/** What is left when a response ends as it has begun. */
function leftBehind({ isCharged, used: { left, taken, meter } }: CoveredResponse): bigint | undefined {
  if (left === undefined || taken === undefined) return left;
  if (meter === undefined) return isCharged ? left : left + taken.amount;
  return (meter.left ?? left) + meter.taken - (isCharged ? meter.due : 0n);
}

function takenFor({ meter, taken }: UsedPass): bigint {
  return meter?.taken ?? taken?.amount ?? 0n;
}

function requestPass({ shown, end, left, meter }: UsedPass): RequestPass {
  const { passId: id, wallet, kind, mint } = shown;
  const { endsAt, renewableUntil }: PassEnd = end ?? shown;
  return withAmountJson({
    id,
    wallet,
    kind,
    ...defined({ left, mint, endsAt, renewableUntil, charge: meter?.charge }),
  });
}
