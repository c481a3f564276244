import type { Request, RequestHandler, Response } from 'express';
import { CODECS } from '../../protocol/codecs/codecs.js';
import { oncePerRequest } from './once-per-request.js';
import { REQUEST_ID_HEADER } from './request-id.js';
import { exposeHeaders } from './respond.js';

/** Headers of responses that scripts of other origins may read. */
const EXPOSED = [
  ...CODECS.flatMap((codec) => codec.exposedHeaders),
  'RateLimit',
  'RateLimit-Policy',
  'Retry-After',
  REQUEST_ID_HEADER,
  'WWW-Authenticate',
  'Location',
  'ETag',
  'Idempotency-Replayed',
];

/** Headers of requests that scripts of other origins may send. The official x402 client sends an Access-Control-Expose-Headers. */
const ALLOWED = [
  'Accept',
  'Authorization',
  'Content-Type',
  'PAYMENT-SIGNATURE',
  'X-PAYMENT',
  'SIGN-IN-WITH-X',
  'Idempotency-Key',
  REQUEST_ID_HEADER,
  'X-Service-Key',
  'X-Service-Secret',
  'X-Service-Payment',
  'If-Match',
  'Last-Event-ID',
  'Access-Control-Expose-Headers',
].join(', ');

const METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS';
const PREFLIGHT_MAX_AGE_SECONDS = 7_200;
const ORIGIN = 'Access-Control-Allow-Origin';

/**
 * Express middleware that opens an API to scripts of every origin, without cookies: payments, tokens and keys are in headers,
 * which no browser adds on its own. Preflights are answered here. A response that has an allowed origin already keeps it.
 */
export const cors: RequestHandler = oncePerRequest((req, res, next) => {
  if (isPreflight(req)) return answerPreflight(res);
  allowOrigins(res);
  next();
});

/** Answers a browser that asks if a script of another origin may send a request. */
export function answerPreflight(res: Response): void {
  allowOrigins(res);
  res.setHeader('Access-Control-Allow-Methods', METHODS);
  res.setHeader('Access-Control-Allow-Headers', ALLOWED);
  res.setHeader('Access-Control-Max-Age', String(PREFLIGHT_MAX_AGE_SECONDS));
  res.statusCode = 204;
  res.end();
}

/** Whether a browser asks if a script of another origin may send a request. */
export function isPreflight({ method, headers }: Request): boolean {
  return method === 'OPTIONS' && headers['access-control-request-method'] !== undefined;
}

function allowOrigins(res: Response): void {
  if (!res.hasHeader(ORIGIN)) res.setHeader(ORIGIN, '*');
  exposeHeaders(res, EXPOSED);
}
