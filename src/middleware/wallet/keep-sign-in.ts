import type { Request, Response } from 'express';
import { keepUncached } from '../gate/cache-control.js';
import type { Decision } from '../gate/gate.js';
import type { CallerParts } from './caller-request.js';
import { isFromHere } from './own-doing.js';
import { giveSession, takeSession } from './session-cookie.js';
import { proofOf } from './wallet-auth.js';

/**
 * Answers a page of ours that signs in for the pages to come (`Keep-Sign-In: cookie`): 204 with a cookie that keeps the wallet of
 * SIGN-IN-WITH-X signed in, and nothing behind the gate runs. Undefined for other requests, and where the sign-in is no good: a gate goes
 * on as ever then.
 */
export function keptSignIn(req: Request, res: Response, parts: CallerParts): Promise<Decision | undefined> | undefined {
  if (!isKeeping(req) || parts.identity.sessions === undefined || !isFromHere(req, parts)) return undefined;
  return keep(req, res, parts);
}

async function keep(req: Request, res: Response, parts: CallerParts): Promise<Decision | undefined> {
  // A token has its own end, and a cookie, too: neither may come to be one that lives on.
  const proof = await proofOf(req, { ...parts, takesCookie: false });
  if (proof.status !== 'proven' || proof.wallet.by !== 'siwx') return undefined;
  return (await giveSession(req, res, parts, proof.wallet.address)) ? nothingMore(res) : undefined;
}

/**
 * Answers a page of the same origin that signs out (`Keep-Sign-In: forget`): 204 that takes the wallet's cookie back, and nothing behind
 * the gate runs. What was bought stays its wallet's. Undefined for other requests.
 * @param forget - takes back what else the gate has its callers keep. Default: nothing
 */
export function signedOut(
  req: Request,
  res: Response,
  parts: CallerParts,
  forget: () => void = () => {},
): Decision | undefined {
  if (req.headers['keep-sign-in'] !== 'forget' || !isFromHere(req, parts)) return undefined;
  takeSession(req, res, parts);
  forget();
  return nothingMore(res);
}

function nothingMore(res: Response): Decision {
  return {
    admitted: true,
    enter() {
      keepUncached(res);
      res.statusCode = 204;
      res.end();
    },
  };
}

function isKeeping({ headers }: Request): boolean {
  return headers['keep-sign-in'] === 'cookie' && headers['sign-in-with-x'] !== undefined;
}
