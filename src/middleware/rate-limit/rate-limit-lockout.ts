import type { Request, RequestHandler, Response } from 'express';
import type { ErrorCode } from '../../errors/errors.js';
import { createLockOuts, type LockOutSetup } from '../../identity/lock-out.js';
import { isPending } from '../../lib/maybe-promise.js';
import { problemCodeOf, sendProblem } from '../gate/respond.js';

/** What a lock-out works with. */
export interface LockOutParts extends Omit<LockOutSetup, 'space'> {
  /** Names the client of a request. */
  readonly clientOf: (req: Request) => string;
}

/** Headers that prove who is calling. */
const CREDENTIALS = ['authorization', 'sign-in-with-x', 'x-service-secret'];
/** A 401 for these is no sign of guessing: nothing was shown, or it was good once. */
const HARMLESS: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'unauthenticated',
  'token_expired',
  'service_key_expired',
  'service_key_revoked',
]);

/**
 * Express middleware that locks an address out after too many failed authentications, see `LockOuts`. Meanwhile only
 * requests that show credentials are turned away.
 * @param always - whether every request is an attempt, as at a sign-in endpoint
 */
export function createLockOut({ clientOf, ...setup }: LockOutParts, always: boolean): RequestHandler {
  const lockOuts = createLockOuts({ space: 'auth', ...setup });
  return (req, res, next) => {
    const attempt = always || CREDENTIALS.some((name) => req.headers[name] !== undefined);
    if (!attempt) return next();
    const client = clientOf(req);
    const pass = (lockedMs: number) => {
      if (lockedMs > 0) return sendLocked(res, lockedMs);
      res.once('finish', () => {
        if (hasFailed(res)) void lockOuts.countFailure(client);
      });
      next();
    };
    const lockedMs = lockOuts.lockedFor(client);
    if (isPending(lockedMs)) lockedMs.then(pass).catch(next);
    else pass(lockedMs);
  };
}

function sendLocked(res: Response, lockedMs: number): void {
  const retryAfterSeconds = Math.ceil(lockedMs / 1000);
  const detail = `Too many authentications from this address have failed; it is locked out for ${retryAfterSeconds} s.`;
  sendProblem(res, 'rate_limited', detail, { retryAfterSeconds });
}

function hasFailed(res: Response): boolean {
  const code = problemCodeOf(res);
  return res.statusCode === 401 && code !== undefined && !HARMLESS.has(code);
}
