import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { beforeHead } from './apply-head.js';
import { createBody, isChunk } from './held-answer.js';
import { REQUEST_ID_HEADER } from './request-id.js';
import { EXPOSE_HEADERS, withExposed } from './respond.js';
import type { RecordedAnswer } from './sealed-answer.js';

/** Longest body that is kept, in bytes; a longer answer leaves all the same. */
export const MAX_KEPT_BYTES = 1024 * 1024;

/** Headers of an exchange rather than of its answer. */
const EXCHANGE_HEADERS = new Set(
  [
    REQUEST_ID_HEADER,
    'RateLimit',
    'RateLimit-Policy',
    'Access-Control-Allow-Origin',
    'Connection',
    'Keep-Alive',
    'Transfer-Encoding',
    'Content-Length',
    'Date',
  ].map((name) => name.toLowerCase()),
);

const REPLAYED = 'Idempotency-Replayed';
const EMPTY_STATUSES = new Set([204, 205, 304]);

/**
 * Writes down what is answered, on its way out.
 * @param beforeEnd - is told the answer, undefined where it is too long to be kept; the end of the answer waits for it
 * @returns reads the answer, once it has ended
 */
export function recordAnswer(
  res: ServerResponse,
  beforeEnd?: (answer: RecordedAnswer | undefined) => Promise<void>,
): () => RecordedAnswer | undefined {
  const body = createBody(MAX_KEPT_BYTES);
  let head: Pick<RecordedAnswer, 'statusCode' | 'headers'> | undefined;
  let isWhole = true;
  let hasEnded = false;
  beforeHead(res, () => {
    head = { statusCode: res.statusCode, headers: ownHeaders(res.getHeaders()) };
  });

  function add(chunk: unknown, encoding: unknown): void {
    if (isWhole && isChunk(chunk)) isWhole = body.add(chunk, encoding);
  }

  function answer(): RecordedAnswer | undefined {
    return hasEnded && isWhole && head !== undefined ? { ...head, body: body.bytes() } : undefined;
  }

  const { write, end } = res;
  Reflect.set(res, 'write', (chunk: unknown, ...rest: unknown[]) => {
    add(chunk, rest[0]);
    return Reflect.apply(write, res, [chunk, ...rest]);
  });
  Reflect.set(res, 'end', (...args: unknown[]) => {
    if (hasEnded) return res;
    hasEnded = true;
    add(args[0], args[1]);
    const finish = () => void Reflect.apply(end, res, args);
    if (beforeEnd === undefined) {
      finish();
      return res;
    }
    completeHead(res, args);
    beforeEnd(answer()).then(finish, finish);
    return res;
  });
  return answer;
}

/** From here on nobody can change the head any more, though the end may still wait. */
function completeHead(res: ServerResponse, [chunk, encoding]: readonly unknown[]): void {
  if (res.headersSent) return;
  if (!res.hasHeader('Content-Length') && !EMPTY_STATUSES.has(res.statusCode)) {
    const last = createBody(Number.POSITIVE_INFINITY);
    if (isChunk(chunk)) last.add(chunk, encoding);
    res.setHeader('Content-Length', last.bytes().length);
  }
  res.writeHead(res.statusCode);
}

function ownHeaders(headers: OutgoingHttpHeaders): OutgoingHttpHeaders {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !EXCHANGE_HEADERS.has(name)));
}

/** Answers with what was answered before, and says so. */
export function sendReplay(res: ServerResponse, { statusCode, headers, body }: RecordedAnswer): void {
  for (const [name, value] of Object.entries(headers)) if (value !== undefined) res.setHeader(name, value);
  res.setHeader(REPLAYED, 'true');
  res.setHeader(EXPOSE_HEADERS, withExposed(res.getHeader(EXPOSE_HEADERS), [REPLAYED]));
  res.statusCode = statusCode;
  if (body.length > 0) res.end(body);
  else res.end();
}
