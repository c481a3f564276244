import type { NextFunction, Request } from 'express';
import { badOption } from '../../errors/errors.js';

const INSTEAD =
  "in an Express app: express().get('/report', gate, handler); a server of node:http takes the app as its listener";

/**
 * Sees to it that Express has called a middleware. Who calls it with a bare request of `node:http`, or forgets `next`, would
 * otherwise be told which property of undefined was read.
 * @throws TollhouseError `bad_option` where nobody could be told through `next`; else it is handed to that
 * @returns whether the middleware may go on
 */
export function isExpress(where: string, req: Request, next: NextFunction | undefined): next is NextFunction {
  if (typeof next === 'function' && typeof req?.get === 'function') return true;
  const detail = typeof next === 'function' ? 'its request is none of Express' : 'it was called without "next"';
  const fault = badOption(where, `${detail}: use it ${INSTEAD}`);
  if (typeof next !== 'function') throw fault;
  next(fault);
  return false;
}
