import type { ServerResponse } from 'node:http';
import type { Request, RequestHandler, Response } from 'express';
import { createRequestNote } from '../../lib/http/request-note.js';
import { onHeaders } from '../../lib/http/write-head.js';
import { CODECS } from '../../protocol/codecs/codecs.js';
import { CREDIT_HEADER, PASS_HEADER, REMAINING_HEADER } from './pass-headers.js';
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
  PASS_HEADER,
  REMAINING_HEADER,
  CREDIT_HEADER,
];

/** Headers of requests that scripts of other origins may send. The official x402 client sends an Access-Control-Expose-Headers. */
const ALLOWED = [
  'Accept',
  'Authorization',
  'Content-Type',
  'PAYMENT-SIGNATURE',
  'X-PAYMENT',
  'SIGN-IN-WITH-X',
  'Prepare-Payment',
  'Keep-Sign-In',
  PASS_HEADER,
  'Idempotency-Key',
  REQUEST_ID_HEADER,
  'X-Service-Key',
  'X-Service-Secret',
  'X-Service-Payment',
  'If-Match',
  'Last-Event-ID',
  'Access-Control-Expose-Headers',
];

const METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS';
const PREFLIGHT_MAX_AGE_SECONDS = 7_200;
const ORIGIN = 'Access-Control-Allow-Origin';
const CREDENTIALS = 'Access-Control-Allow-Credentials';
/** Names of headers as a preflight may list them (RFC 9110 §5.6.2), and how many of them are read. */
const HEADER_NAME = /^[-!#$%&'*+.^`|~\w]{1,64}$/;
const MAX_ASKED = 50;

/** Whose scripts may send requests and read the responses. */
export interface CorsPolicy {
  /** Undefined for every origin. */
  readonly origins: ReadonlySet<string> | undefined;
  /** Whether browsers send cookies along. */
  readonly credentials: boolean;
}

/** A policy that an app has stated; `isFinal` when nothing behind it has a say. */
interface StatedPolicy {
  isFinal: boolean;
}

const EVERY_ORIGIN: CorsPolicy = { origins: undefined, credentials: false };
const stated = createRequestNote<ServerResponse, StatedPolicy>();

/**
 * Express middleware that opens an API to scripts of every origin, without cookies: payments, tokens and keys are in headers,
 * which no browser adds on its own. Preflights are answered here. A policy that the app has stated before stays, and what an
 * upstream says of origins does not count.
 */
export const cors: RequestHandler = (req, res, next) => {
  const before = stated.of(res);
  if (before !== undefined) before.isFinal = true;
  else if (!saysOrigins(res)) {
    stated.put(res, { isFinal: true });
    applyPolicy(EVERY_ORIGIN, req, res);
  }
  if (isPreflight(req)) return answerPreflight(req, res);
  next();
};

/**
 * States a policy for a response: it has it when its head leaves, unless a policy behind has spoken by then. One that was
 * stated before stays.
 */
export function statePolicy(policy: CorsPolicy, req: Request, res: Response): void {
  if (stated.of(res) !== undefined || saysOrigins(res)) return;
  const statement: StatedPolicy = { isFinal: false };
  stated.put(res, statement);
  onHeaders(res, () => {
    if (statement.isFinal || !saysOrigins(res)) applyPolicy(policy, req, res);
  });
}

/**
 * Answers a browser that asks if a script of another origin may send a request. Which origins may was said before, or none may;
 * of methods and headers too, what was said before stays.
 */
export function answerPreflight(req: Request, res: Response): void {
  const said = { Methods: METHODS, Headers: allowedHeaders(req), 'Max-Age': String(PREFLIGHT_MAX_AGE_SECONDS) };
  for (const [what, value] of Object.entries(said)) {
    const name = what === 'Max-Age' ? `Access-Control-${what}` : `Access-Control-Allow-${what}`;
    if (!res.hasHeader(name)) res.setHeader(name, value);
  }
  res.statusCode = 204;
  res.end();
}

/** Whether a browser asks if a script of another origin may send a request. */
export function isPreflight(req: Request): boolean {
  // Every look at a request of Express costs a microsecond, as each has a hidden class of its own.
  return req.method === 'OPTIONS' && req.headers['access-control-request-method'] !== undefined;
}

/** An app's headers are no secret of ours: whoever may send requests may send those that it asks for. */
function allowedHeaders({ headers }: Request): string {
  const asked = String(headers['access-control-request-headers'] ?? '').split(',', MAX_ASKED);
  const known = new Set(ALLOWED.map((name) => name.toLowerCase()));
  const more = asked.map((name) => name.trim()).filter((it) => HEADER_NAME.test(it) && !known.has(it.toLowerCase()));
  return [...ALLOWED, ...more].join(', ');
}

/** Whether somebody has said of a response whose scripts may read it. Who refuses an origin says so by `Vary` alone. */
function saysOrigins(res: Response): boolean {
  return res.hasHeader(ORIGIN) || /(^|[\s,])origin($|[\s,])/i.test(String(res.getHeader('Vary') ?? ''));
}

function applyPolicy({ origins, credentials }: CorsPolicy, { headers }: Request, res: Response): void {
  const { origin } = headers;
  const isAllowed = origins === undefined || (origin !== undefined && origins.has(origin));
  for (const name of [ORIGIN, CREDENTIALS]) res.removeHeader(name);
  if (isAllowed) res.setHeader(ORIGIN, origins === undefined ? '*' : String(origin));
  if (isAllowed && credentials) res.setHeader(CREDENTIALS, 'true');
  if (origins !== undefined) res.vary('Origin');
  exposeHeaders(res, EXPOSED);
}
