import type { ServerResponse } from 'node:http';
import type { ErrorCode } from '../../errors/errors.js';
import { createRequestNote } from '../../lib/http/request-note.js';

/** Faults that are no sign of guessing: nothing was shown, or it was good once. */
const HARMLESS: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'unauthenticated',
  'token_expired',
  'service_key_expired',
  'service_key_revoked',
]);

const lockedFor = createRequestNote<ServerResponse, number>();

/** Notes that a response goes to an address that has failed too often: a further failure is told with 429. What is right passes. */
export function noteLockedOut(res: ServerResponse, lockedMs: number): void {
  lockedFor.put(res, lockedMs);
}

/** Whether a response is a failed authentication, by its status and the code of its problem. */
export function isFailedProof(status: number, code: ErrorCode | undefined): boolean {
  return status === 401 && code !== undefined && !HARMLESS.has(code);
}

/** For how many seconds more a failure is refused that an address locked out has made; undefined when it is not locked out. */
export function lockedOutSeconds(res: ServerResponse): number | undefined {
  const lockedMs = lockedFor.of(res);
  return lockedMs === undefined ? undefined : Math.ceil(lockedMs / 1_000);
}

const beyondLimit = createRequestNote<ServerResponse, number>();

/**
 * Notes that a response goes to an address that has used up its limit, and is for what is right only: whatever is wrong is told with 429.
 * @param seconds - until the limit is whole again
 */
export function noteBeyondLimit(res: ServerResponse, seconds: number): void {
  beyondLimit.put(res, seconds);
}

/** For how many seconds what is wrong is refused that comes from an address beyond its limit; undefined where there is no such limit. */
export function beyondLimitSeconds(res: ServerResponse): number | undefined {
  return beyondLimit.of(res);
}
