import type { ServerResponse } from 'node:http';
import type { Request, RequestHandler } from 'express';
import { createLockOuts, type LockOutSetup } from '../../identity/lock-out.js';
import { createRequestNote } from '../../lib/http/request-note.js';
import { headHook } from '../../lib/http/write-head.js';
import { isPending } from '../../lib/maybe-promise.js';
import { isFailedProof, noteLockedOut } from '../gate/locked-out.js';
import { problemCodeOf } from '../gate/respond.js';

/** What a lock-out works with. */
export interface LockOutParts extends Omit<LockOutSetup, 'space'> {
  /** Names the client of a request. */
  readonly clientOf: (req: Request) => string;
}

/** Headers that prove who is calling. */
const CREDENTIALS = ['authorization', 'sign-in-with-x', 'x-service-secret'];
/**
 * Express middleware that locks an address out after too many failed authentications, see `LockOuts`. Meanwhile a request whose
 * credentials are right passes, and one that fails is told 429. What a failure costs is bounded by the limit of requests or challenges
 * that stands before this.
 * @param always - whether every request is an attempt, as at a sign-in endpoint
 */
export function createLockOut({ clientOf, ...setup }: LockOutParts, always: boolean): RequestHandler {
  const lockOuts = createLockOuts({ space: 'auth', ...setup });
  const attempts = createRequestNote<ServerResponse, string>();
  // As its head is written: who does not wait for the response, or has it wait for others on its connection, has failed all the same.
  const countFailures = headHook((res) => {
    const client = attempts.of(res);
    const isFailure = client !== undefined && isFailedProof(res.statusCode, problemCodeOf(res));
    if (isFailure) void lockOuts.countFailure(client);
  });
  return (req, res, next) => {
    const attempt = always || CREDENTIALS.some((name) => req.headers[name] !== undefined);
    if (!attempt) return next();
    const client = clientOf(req);
    const pass = (lockedMs: number) => {
      if (lockedMs > 0) noteLockedOut(res, lockedMs);
      attempts.put(res, client);
      countFailures(res);
      next();
    };
    const lockedMs = lockOuts.lockedFor(client);
    if (isPending(lockedMs)) lockedMs.then(pass).catch(next);
    else pass(lockedMs);
  };
}
