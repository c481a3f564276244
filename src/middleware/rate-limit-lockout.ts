import type { Request, RequestHandler, Response } from 'express';
import type { ErrorCode } from '../errors.js';
import type { LimitCounters } from './rate-limit-store.js';
import { problemCodeOf, sendProblem } from './respond.js';

/** What a lock-out works with. */
export interface LockOutParts {
  readonly counters: LimitCounters;
  /** Failures within a minute that lock an address out. */
  readonly failures: number;
  /** Names the client of a request. */
  readonly clientOf: (req: Request) => string;
  /** Told when the counters cannot be reached; the request passes. */
  readonly onStoreError: (error: unknown) => void;
  readonly now: () => number;
}

const MINUTE_MS = 60_000;
const LONGEST_LOCK_MS = 60 * MINUTE_MS;
/** So long after its first lock-out an address is a stranger again. */
const MEMORY_MS = 24 * 60 * MINUTE_MS;

/** Headers that prove who is calling. */
const CREDENTIALS = ['authorization', 'sign-in-with-x', 'x-service-secret'];
/** A 401 for these is no sign of guessing: nothing was shown, or it was good once. */
const HARMLESS: ReadonlySet<ErrorCode> = new Set<ErrorCode>(['unauthenticated', 'token_expired']);

/**
 * Express middleware that locks an address out after too many failed authentications: for a minute at first, twice as
 * long each further time within a day, an hour at most. Meanwhile only requests that show credentials are turned away.
 * @param always - whether every request is an attempt, as at a sign-in endpoint
 */
export function createLockOut(parts: LockOutParts, always: boolean): RequestHandler {
  return (req, res, next) => {
    const attempt = always || CREDENTIALS.some((name) => req.headers[name] !== undefined);
    if (!attempt) return next();
    const client = parts.clientOf(req);
    lockedFor(parts, client)
      .then((lockedMs) => {
        if (lockedMs > 0) return sendLocked(res, lockedMs);
        res.once('finish', () => {
          if (hasFailed(res)) countFailure(parts, client).catch(parts.onStoreError);
        });
        next();
      })
      .catch(next);
  };
}

async function lockedFor({ counters, now, onStoreError }: LockOutParts, client: string): Promise<number> {
  try {
    return Number((await counters.get(lockKey(client))) ?? 0) - now();
  } catch (error) {
    onStoreError(error);
    return 0;
  }
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

async function countFailure({ counters, failures, now }: LockOutParts, client: string): Promise<void> {
  const { count } = await counters.increment(`auth-failures:${client}`, MINUTE_MS);
  // Attempts that were under way together count on; one of them locks.
  if (count !== failures) return;
  const { count: times } = await counters.increment(`auth-lock-outs:${client}`, MEMORY_MS);
  const lockMs = Math.min(MINUTE_MS * 2 ** (times - 1), LONGEST_LOCK_MS);
  await counters.put(lockKey(client), String(now() + lockMs), lockMs);
}

function lockKey(client: string): string {
  return `auth-lock:${client}`;
}
