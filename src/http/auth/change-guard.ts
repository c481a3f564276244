import type { Request, RequestHandler, Response } from 'express';
import { TollhouseError } from '../../errors/errors.js';
import type { ChangeLimit } from '../../gateway/owners/change-limit.js';
import { onHeaders } from '../../lib/http/write-head.js';
import { clientAddress } from '../../middleware/gate/client-address.js';
import { sendError } from '../../middleware/gate/respond.js';
import { callerOf } from '../framework/api-caller.js';

/** Methods that change nothing. */
const READING = new Set(['GET', 'HEAD']);

/**
 * Makes what counts the changes of a caller's wallet and address, and refuses those beyond what they may make. What was refused for whatever reason has
 * changed nothing, and does not count.
 */
export function limitChanges(changes: ChangeLimit): RequestHandler {
  return (req, res, next) => {
    if (READING.has(req.method)) return next();
    count(changes, req, res).then(
      () => next(),
      (error: unknown) => (error instanceof TollhouseError ? sendError(res, error) : next(error)),
    );
  };
}

async function count(changes: ChangeLimit, req: Request, res: Response): Promise<void> {
  const takeBack = await changes.count({ wallet: callerOf(req).wallet, ...clientAddress(req) });
  onHeaders(res, () => {
    if (res.statusCode >= 400) takeBack();
  });
}
