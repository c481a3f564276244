import express, { type RequestHandler } from 'express';
import { receivedBody } from '../../lib/http/received-body.js';
import { sendProblem } from '../../middleware/gate/respond.js';

const JSON_TYPES = ['json', '+json'];
/** A body that is too long is let run out, so that its sender hears so; who sends more than this is cut off. */
const MAX_SENT_BYTES = 32 * 1024 * 1024;
const UTF8 = new TextDecoder('utf-8', { fatal: true });
const READ_BEFORE =
  'The app has read the body before it came here, and nothing of it is left. In the app, mount createRouter() before whatever reads bodies.';

/**
 * Reads a JSON body, if there is one. A body of another type is answered 415, one that is too long or broken becomes an error of
 * `express.json()`. Where a parser of the app came first, what it parsed counts, and text or bytes are parsed here; where
 * nothing is left, the response is 500 `body_already_read`.
 *
 * @param limit - longest body, as Express writes sizes: `100kb`
 */
export function jsonBody(limit: string): RequestHandler[] {
  const parse = express.json({ limit, type: JSON_TYPES });
  return [refuseOtherTypes, cutEndless, takeReadBody(parse)];
}

/** Behind a parser of the app, which may have left an object, a text or bytes; else reads the body. */
function takeReadBody(parse: RequestHandler): RequestHandler {
  return (req, res, next): void => {
    const received = receivedBody(req);
    const isParsed = typeof req.body === 'object' && req.body !== null && !(req.body instanceof Uint8Array);
    if (received.kind === 'none' || received.kind === 'unread') return void parse(req, res, next);
    if (isParsed && (received.kind === 'read' || Object.keys(req.body).length > 0)) return next();
    if (received.kind === 'lost') return sendProblem(res, 'body_already_read', READ_BEFORE);
    if (received.bytes.length === 0) return next();
    try {
      req.body = JSON.parse(UTF8.decode(received.bytes));
    } catch {
      return sendProblem(res, 'invalid_json', 'The body cannot be parsed as JSON.');
    }
    next();
  };
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
