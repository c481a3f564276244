import express, { type RequestHandler } from 'express';
import { sendProblem } from '../middleware/respond.js';

const JSON_TYPES = ['json', '+json'];
/** A body that is too long is let run out, so that its sender hears so; who sends more than this is cut off. */
const MAX_SENT_BYTES = 32 * 1024 * 1024;

/**
 * Reads a JSON body, if there is one. A body of another type is answered 415, one that is too long or broken becomes an error of
 * `express.json()`.
 *
 * @param limit - longest body, as Express writes sizes: `100kb`
 */
export function jsonBody(limit: string): RequestHandler[] {
  return [refuseOtherTypes, cutEndless, express.json({ limit, type: JSON_TYPES })];
}

const cutEndless: RequestHandler = (req, _res, next) => {
  let left = MAX_SENT_BYTES;
  req.on('data', (chunk: Uint8Array) => {
    left -= chunk.length;
    if (left < 0) req.destroy();
  });
  next();
};

const refuseOtherTypes: RequestHandler = (req, res, next) => {
  // A body of no length needs no type: that is how clients post nothing.
  const isEmpty = req.get('content-length') === '0' && req.get('content-type') === undefined;
  if (isEmpty || req.is(JSON_TYPES) !== false) return next();
  sendProblem(res, 'unsupported_media_type', 'The body must be JSON, with the content type application/json.');
};
