import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { defined } from '../../lib/defined.js';
import { errorText } from '../../lib/error-text.js';
import { isClientGone } from '../../lib/http/connection-events.js';
import { interceptMethods, type Mode } from '../../lib/http/intercept-methods.js';
import { checkChunk, checkStatus } from '../../lib/http/sendable.js';
import { writeHeadLater } from '../../lib/http/write-head.js';
import { CREDIT_HEADER, PASS_HEADER, REMAINING_HEADER, withoutPassCookies } from '../gate/pass-headers.js';
import { REQUEST_ID_HEADER } from '../gate/request-id.js';
import { EXPOSE_HEADERS, withExposed } from '../gate/respond.js';
import { createBody, endWhole, isChunk } from './response-buffer.js';
import { answeredRange } from './response-range.js';
import type { StoredResponse } from './response-seal.js';

/** Longest body that is kept, in bytes; a longer response leaves all the same. */
export const MAX_KEPT_BYTES = 1024 * 1024;

/** Headers of an exchange rather than of its response. */
const EXCHANGE_HEADERS = new Set(
  [
    REQUEST_ID_HEADER,
    // A token is told to who has the payment's secret, and again only to him.
    PASS_HEADER,
    REMAINING_HEADER,
    CREDIT_HEADER,
    'RateLimit',
    'RateLimit-Policy',
    'Access-Control-Allow-Origin',
    'Access-Control-Allow-Credentials',
    'Connection',
    'Keep-Alive',
    'Transfer-Encoding',
    'Date',
  ].map((name) => name.toLowerCase()),
);

const REPLAYED = 'Idempotency-Replayed';

/** A response that is written down on its way out. */
export interface RecordedResponse {
  /** Whether anything of it has been handed to the connection. */
  readonly begun: boolean;
  /** Whether its handler has ended it. */
  readonly isEnding: boolean;
  /** The same, and `beforeEnd` is done. */
  readonly hasEnded: boolean;
  /** Whether it cannot be kept, whenever its handler ends it: a stream of events, or longer than what is kept. */
  cannotBeKept(): boolean;
  /** What `beforeEnd` said: whether it can be had again. */
  readonly isKept: boolean;
  /** Resolves when it {@link hasEnded}. */
  readonly ended: Promise<void>;
  /** Waits for that, so many milliseconds at most. */
  endsWithin(timeoutMs: number): Promise<void>;
}

/**
 * Writes a response down, on its way out.
 * @param beforeEnd - is told the response, undefined where it is too long to be kept, and tells whether it is kept; the end
 *   waits for it
 * @param isSurelyWhole - whether it is ended only when it is whole, whoever waits for it. Default false: a handler may stop anywhere
 *   when its client is gone
 */
export function recordResponse(
  res: ServerResponse,
  beforeEnd: (response: StoredResponse | undefined) => Promise<boolean>,
  isSurelyWhole = false,
): RecordedResponse {
  const body = createBody(MAX_KEPT_BYTES);
  let isWhole = true;
  let mode: Mode = 'open';
  const { ended, resolve } = promised();
  const recorded = {
    begun: false,
    hasEnded: false,
    isKept: false,
    ended,
    isEnding: false,
    endsWithin: (timeoutMs: number) => within(ended, timeoutMs),
    cannotBeKept() {
      return !isWhole || isEventStream(res);
    },
  };
  const intercept = interceptMethods(res, () => mode);
  const { write, end, flushHeaders } = res;
  const headOf = noteHead(res, () => recorded.isEnding);

  function add(chunk: unknown, encoding: unknown): void {
    if (!recorded.isEnding && isWhole && isChunk(chunk)) isWhole = body.add(chunk, encoding);
  }

  function begin(chunk?: unknown): void {
    if (recorded.isEnding) return;
    check(res, headOf(), chunk);
    recorded.begun ||= !isClientGone(res);
  }

  Reflect.set(res, 'flushHeaders', () => {
    begin();
    return Reflect.apply(flushHeaders, res, []);
  });
  Reflect.set(res, 'write', (chunk: unknown, ...rest: unknown[]) => {
    begin(chunk);
    add(chunk, rest[0]);
    return Reflect.apply(write, res, [chunk, ...rest]);
  });
  Reflect.set(res, 'end', (...args: unknown[]) => {
    if (recorded.isEnding) return res;
    check(res, headOf(), isChunk(args[0]) ? args[0] : undefined);
    add(args[0], args[1]);
    recorded.isEnding = true;
    if (headOf() === undefined) res.writeHead(res.statusCode);
    const finish = (kept: boolean): void => {
      Object.assign(recorded, { isKept: kept, begun: recorded.begun || !isClientGone(res) });
      mode = 'open';
      intercept();
      recorded.hasEnded = sends(res, () => Reflect.apply(end, res, args)) || kept;
      mode = 'out';
      resolve();
    };
    // Nobody can change the response any more, though its end may still wait.
    mode = 'mute';
    const head = headOf();
    const isGiven = isSurelyWhole || !isClientGone(res) || recorded.begun || isAsLongAsSaid(res, body.bytes());
    const response = isWhole && isGiven && head !== undefined ? { body: body.bytes(), ...head } : undefined;
    beforeEnd(response).then(finish, () => finish(false));
    return res;
  });
  return recorded;
}

function promised(): { readonly ended: Promise<void>; resolve(): void } {
  let resolve: () => void = () => {};
  const ended = new Promise<void>((done) => {
    resolve = done;
  });
  return { ended, resolve };
}

/** What Node would not send its handler must hear of now: at the end, which waits, nobody is left to hear. */
function check(res: ServerResponse, head: unknown, chunk: unknown): void {
  if (head === undefined) checkStatus(res.statusCode, res.statusMessage);
  if (chunk !== undefined) checkChunk(chunk);
}

/** Whether a response has gone out whole. What throws may be in front of it, and have sent it before. */
function sends(res: ServerResponse, end: () => void): boolean {
  try {
    end();
    return true;
  } catch (error) {
    process.emitWarning(errorText(error), { code: 'TOLLHOUSE_INTERNAL' });
    if (!res.writableEnded) res.destroy();
    return res.writableEnded;
  }
}

/**
 * A handler that notices that its client is gone may stop anywhere, unless it has said how long its response is. Where
 * nothing has left it is better run again than taken at its word.
 */
function isAsLongAsSaid(res: ServerResponse, { length }: Uint8Array): boolean {
  return Number(res.getHeader('Content-Length')) === length;
}

function isEventStream(res: ServerResponse): boolean {
  return /^text\/event-stream\b/i.test(String(res.getHeader('Content-Type')));
}

/** Waits for a promise, so many milliseconds at most. */
async function within(promise: Promise<void>, timeoutMs: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, timeoutMs).unref();
  });
  await Promise.race([promise, late]);
  clearTimeout(timer);
}

/**
 * Notes the head of a response once it is complete.
 * @param leavesLater - whether it is not sent by that, so that those in front may still see to it
 */
function noteHead(res: ServerResponse, leavesLater: () => boolean): () => Omit<StoredResponse, 'body'> | undefined {
  let head: Omit<StoredResponse, 'body'> | undefined;
  const { writeHead } = res;
  Reflect.set(res, 'writeHead', (status: number, ...rest: unknown[]) => {
    if (head !== undefined) return Reflect.apply(writeHead, res, [status, ...rest]);
    writeHeadLater(res, status, rest);
    const { statusCode, statusMessage } = res;
    head = {
      statusCode,
      ...defined({ statusMessage, range: answeredRange(res) }),
      headers: ownHeaders(res.getHeaders()),
    };
    return leavesLater() ? res : Reflect.apply(writeHead, res, [res.statusCode]);
  });
  return () => head;
}

/** A response without the headers of the exchange that it was made in. */
export function withoutExchangeHeaders(response: StoredResponse): StoredResponse {
  return { ...response, headers: ownHeaders(response.headers) };
}

function ownHeaders(headers: OutgoingHttpHeaders): OutgoingHttpHeaders {
  // As Node's own: a header may have any name.
  const own: OutgoingHttpHeaders = Object.create(null);
  for (const name of Object.keys(headers)) {
    const kept = name === 'set-cookie' && headers[name] ? withoutPassCookies(headers[name]) : headers[name];
    if (kept !== undefined && !EXCHANGE_HEADERS.has(name)) own[name] = kept;
  }
  return own;
}

/** Sends again what was sent before, and says so. */
export function sendReplay(res: ServerResponse, { statusCode, statusMessage, headers, body }: StoredResponse): void {
  // Where there is a body its length is told anew, by whoever sends it last.
  const isOfAnother = res.req.method === 'HEAD' || statusCode === 304;
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined && (isOfAnother || name !== 'content-length')) res.setHeader(name, value);
  }
  res.setHeader(REPLAYED, 'true');
  res.setHeader(EXPOSE_HEADERS, withExposed(res.getHeader(EXPOSE_HEADERS), [REPLAYED]));
  Object.assign(res, { statusCode, ...defined({ statusMessage }) });
  endWhole(res, body);
}
