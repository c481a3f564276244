import type { NextFunction, Request, Response } from 'express';
import { headHook } from '../../lib/http/write-head.js';
import { addVary, setPrivate } from '../gate/cache-control.js';
import { PASS_HEADER, REMAINING_HEADER } from '../gate/pass-headers.js';
import { type RequestPass, tell } from '../gate/request-properties.js';
import { closed, endsWithin, isClientGone, watchBreak } from '../response/response-end.js';
import { type CoveredResponse, coveredBy, noteCovered } from './covered-response.js';
import { giveCookie } from './pass-cookie.js';
import type { PassParts, UsedPass } from './pass-types.js';

/**
 * Lets a request on that a pass covers. What it has taken is given back where its client is gone before the handler is asked,
 * where its response has no price or never comes, and where this side broke it off; the header says what is left then.
 */
export async function enterByPass(
  parts: PassParts,
  req: Request,
  res: Response,
  used: UsedPass,
  next: NextFunction,
): Promise<void> {
  const { shown, taken } = used;
  if (taken !== undefined && isClientGone(res)) return giveBack(parts, shown.passId, taken.requestId);
  // The wallet itself has shown it: it may have another token.
  if (!used.byToken) await giveToken(parts, res, used);
  res.setHeader(REMAINING_HEADER, remainingText(used.left, shown.endsAt));
  tell(req, parts.requestNames, 'pass', requestPass(used));
  const response = noteCovered(res, used, parts);
  completeHeads(res);
  next();
  if (taken !== undefined) void followEnd(res, response, taken.requestId);
}

async function giveToken({ tokens }: PassParts, res: Response, { shown, cookie }: UsedPass): Promise<void> {
  const token = await tokens.issue(shown);
  res.setHeader(PASS_HEADER, token);
  if (cookie !== undefined) giveCookie(res, cookie, token, shown.endsAt);
}

/** What is written at once, as most is, is whole; all else is watched until its end. */
async function followEnd(res: Response, response: CoveredResponse, requestId: string): Promise<void> {
  const isSpent = res.writableEnded ? response.isCharged : await isServed(res, response);
  if (!isSpent) await giveBack(response.parts, response.used.shown.passId, requestId);
}

async function isServed(res: Response, response: CoveredResponse): Promise<boolean> {
  const { charges, handlerTimeoutMs } = response.parts;
  const isBrokenHere = watchBreak(res);
  await closed(res);
  if (!res.writableEnded && isBrokenHere()) return false;
  if (res.headersSent) return response.isCharged;
  try {
    // Who hangs up on a handler that comes to its end has had its work.
    return (await endsWithin(res, handlerTimeoutMs)) && charges(res);
  } catch {
    return false;
  }
}

async function giveBack({ passes }: PassParts, passId: string, requestId: string): Promise<void> {
  try {
    await passes.giveBack(passId, requestId);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const detail = `what a request took from the pass ${passId} could not be given back: ${reason}`;
    process.emitWarning(detail, { code: 'TOLLHOUSE_PASS_NOT_GIVEN_BACK' });
  }
}

const completeHeads = headHook((res) => {
  setPrivate(res);
  for (let response = coveredBy(res); response !== undefined; response = response.before) {
    addVary(res, response.parts.vary);
    const { left = 0n, taken } = response.used;
    response.isCharged = response.parts.charges(res as Response);
    if (!response.isCharged && taken !== undefined) res.setHeader(REMAINING_HEADER, String(left + taken.amount));
  }
});

function requestPass({ shown: { passId: id, wallet, kind, endsAt }, left }: UsedPass): RequestPass {
  const pass = { id, wallet, kind };
  if (endsAt === undefined) return left === undefined ? pass : { ...pass, left };
  return left === undefined ? { ...pass, endsAt } : { ...pass, left, endsAt };
}

/** What is left: uses, or the seconds until the end. */
export function remainingText(left: bigint | undefined, endsAt = 0): string {
  return String(left ?? Math.max(0, Math.floor((endsAt - Date.now()) / 1_000)));
}
