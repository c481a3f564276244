import type { RequestHandler, Response } from 'express';
import type { KeyAuthenticator, KeyCheck } from '../../identity/service-keys/service-key-types.js';
import { isPending, whenKnown, whenKnownOr } from '../../lib/maybe-promise.js';
import { createRequestNote } from '../gate/request-note.js';
import { sendError } from '../gate/respond.js';
import { checkServiceKey, keyError } from '../service-key/read-service-key.js';

const countedElsewhere = createRequestNote<Response, true>();

/** Notes that a request belongs to somebody known, who is counted: where it is welcome it does not count against its address as well. */
export function countElsewhere(res: Response): void {
  countedElsewhere.put(res, true);
}

/** Whether {@link countElsewhere} was told of a response. */
export function isCountedElsewhere(res: Response): boolean {
  return countedElsewhere.of(res) === true;
}

/**
 * A limit by address for those whom nobody knows: a request with a good service key passes it by, and is counted by its key
 * alone; above the key's own limit it is refused here. A key that is wrong, or cannot be looked up, counts by its address.
 */
export function unlessKeyed(limit: RequestHandler, keys: KeyAuthenticator): RequestHandler {
  return (req, res, next) => {
    const checking = checkServiceKey(req, res, keys);
    if (checking === undefined) return void limit(req, res, next);
    const known = whenKnownOr<KeyCheck, KeyCheck | undefined>(
      () => checking,
      (check) => check,
      () => undefined,
    );
    const passing = whenKnown(known, (check) => {
      if (check?.ok) return next();
      if (check?.rate === undefined) return void limit(req, res, next);
      sendError(res, keyError(check));
    });
    if (isPending(passing)) passing.catch(next);
  };
}
