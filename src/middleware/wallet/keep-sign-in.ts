import type { Request, Response } from 'express';
import { keepUncached } from '../gate/cache-control.js';
import type { Decision } from '../gate/gate.js';
import type { CallerParts } from './caller-request.js';
import { giveSession } from './session-cookie.js';
import { proofOf } from './wallet-auth.js';

/**
 * Answers a page of ours that signs in for the pages to come (`Keep-Sign-In: cookie`): 204 with a cookie that keeps the wallet of
 * SIGN-IN-WITH-X signed in, and nothing behind the gate runs. Undefined for other requests, and where the sign-in is no good: a gate goes
 * on as ever then.
 */
export function keptSignIn(req: Request, res: Response, parts: CallerParts): Promise<Decision | undefined> | undefined {
  return isKeeping(req) && parts.identity.sessions !== undefined ? keep(req, res, parts) : undefined;
}

async function keep(req: Request, res: Response, parts: CallerParts): Promise<Decision | undefined> {
  const proof = await proofOf(req, parts);
  if (proof.status !== 'proven' || !(await giveSession(req, res, parts, proof.wallet.address))) return undefined;
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
