import type { Request, RequestHandler } from 'express';
import { createRequestNote } from '../../lib/http/request-note.js';

/**
 * Express middleware that does its work once for a request, however often the request passes it: an app has it before all of
 * its routes, and a router of ours that is mounted there before its own.
 */
export function oncePerRequest(handler: RequestHandler): RequestHandler {
  const seen = createRequestNote<Request, true>();
  return (req, res, next) => {
    if (seen.of(req)) return next();
    seen.put(req, true);
    handler(req, res, next);
  };
}
