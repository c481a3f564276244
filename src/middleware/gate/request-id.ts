import type { IncomingMessage, ServerResponse } from 'node:http';
import type { RequestHandler } from 'express';
import { newId } from '../../lib/ids.js';
import { oncePerRequest } from './once-per-request.js';

/** The header that names a request, in both directions. */
export const REQUEST_ID_HEADER = 'X-Request-Id';
const SENT_ID = REQUEST_ID_HEADER.toLowerCase();

/** What a caller may name its request: nothing that could break a log line or a header. */
const WELL_FORMED = /^[\w.:=+/-]{1,128}$/;

/**
 * The id of a request, which its response carries from now on: the one that is on the response already, else a well-formed one
 * that the caller sent, else a new one.
 */
export function requestIdOf(res: ServerResponse<IncomingMessage>): string {
  const given = res.getHeader(REQUEST_ID_HEADER);
  if ((typeof given === 'string' && given !== '') || typeof given === 'number') return String(given);
  const sent = res.req.headers[SENT_ID];
  const id = typeof sent === 'string' && WELL_FORMED.test(sent) ? sent : newId('req');
  res.setHeader(REQUEST_ID_HEADER, id);
  return id;
}

/** Express middleware that gives every response an `X-Request-Id`. */
export const requestId: RequestHandler = oncePerRequest((_req, res, next) => {
  requestIdOf(res);
  next();
});
