import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { onceOver } from '../../lib/http/connection-events.js';
import {
  callBack,
  type HoldingMethod,
  type InterceptedMethod,
  interceptMethods,
  isHeadSent,
  type Mode,
} from '../../lib/http/intercept-methods.js';
import { checkChunk } from '../../lib/http/sendable.js';
import { createUnreadResponses } from '../../lib/http/unread-responses.js';
import { replaceHeaders, writeHeadLater } from '../../lib/http/write-head.js';
import { answeredRange } from './response-range.js';
import type { StoredResponse } from './response-seal.js';

/** Of all gates of a process, and of all that is kept: with 256 MiB unread, those go that have been at it the longest. */
const unread = createUnreadResponses();

/**
 * Why the wait for the handler is over: it has ended its response, the response is more than is held, the client went away,
 * or nothing came in time.
 */
export type BufferEnd =
  | { readonly why: 'ended'; readonly response: StoredResponse }
  | { readonly why: 'too_large' | 'client_gone' | 'timeout' };

/** A response whose handler writes into memory: it has not been delivered, and nothing of it has left. */
export interface BufferedResponse {
  /** Resolves when the handler is done, or the wait is over. From then on nothing that the handler does reaches the client. */
  readonly ended: Promise<BufferEnd>;
  /** Lets `write` send something through the response, with the headers it had before the handler ran. */
  send(write: () => void): void;
  /** Sends a stored response, with its headers in place of whatever headers there are. */
  sendStored(stored: StoredResponse): void;
  /** Holds no longer: the response is again what it was before the handler ran, unless something was sent. */
  giveUp(): void;
}

/** Bounds of what is held. */
export interface BufferLimits {
  /** Bytes of the body. */
  readonly maxBytes: number;
  /** Milliseconds until the handler must have answered. */
  readonly timeoutMs: number;
}

const MOST_CHUNKS = 1024;

/**
 * Holds the handler's response until its price is paid. Everybody keeps the response object that Express hands around;
 * its methods keep to themselves what they are told. Wrappers such as compression that were put on earlier see the response
 * when it is let out, those that are put on later see it on its way in.
 */
export function bufferResponse(res: ServerResponse, limits: BufferLimits): BufferedResponse {
  const before = res.getHeaders();
  const head: Head = { written: false };
  let mode: Mode = 'hold';
  let settle: (end: BufferEnd) => void = () => {};
  const ended = new Promise<BufferEnd>((resolve) => {
    settle = resolve;
  });

  function finish(end: BufferEnd): void {
    if (mode !== 'hold') return;
    mode = 'mute';
    stopWaiting();
    settle(end);
  }

  function stopWaiting(): void {
    clearTimeout(timer);
    stopWatching();
  }

  function open(headers: OutgoingHttpHeaders): void {
    mode = 'open';
    intercept();
    // What failed half-way has left its head.
    if (isHeadSent(res)) return;
    replaceHeaders(res, headers);
    res.statusMessage = '';
  }

  function sendWith(headers: OutgoingHttpHeaders, write: () => void): void {
    open(headers);
    write();
    mode = 'out';
  }

  const timer = setTimeout(() => finish({ why: 'timeout' }), limits.timeoutMs);
  const stopWatching = onceOver(res, () => finish({ why: 'client_gone' }));
  const intercept = interceptMethods(res, () => mode, holdingMethods(res, head, limits.maxBytes, finish));
  // After an error Express cuts the connection of a response whose headers are sent; while it is mute they are not.
  const headersSent = () => (mode === 'hold' ? head.written : isHeadSent(res));
  Object.defineProperty(res, 'headersSent', { configurable: true, get: headersSent });

  return {
    ended,
    send: (write) => sendWith(before, write),
    sendStored: (stored) => sendWith(stored.headers, () => endStored(res, stored)),
    giveUp() {
      stopWaiting();
      if (mode !== 'out') open(before);
    },
  };
}

interface Head {
  written: boolean;
}

/** What the methods that send do while the response is held. Like the real ones they go through `writeHead`, which wrappers may have replaced. */
function holdingMethods(
  res: ServerResponse,
  head: Head,
  maxBytes: number,
  finish: (end: BufferEnd) => void,
): Readonly<Record<HoldingMethod, InterceptedMethod>> {
  const body = createBody(maxBytes);

  function completeHead(): void {
    if (!head.written) res.writeHead(res.statusCode);
  }

  function write(chunk: unknown, encoding: unknown): void {
    checkChunk(chunk);
    completeHead();
    if (!body.add(chunk, encoding)) finish({ why: 'too_large' });
  }

  return {
    flushHeaders: completeHead,
    writeHead(status, ...rest) {
      writeHeadLater(res, Number(status), rest);
      head.written = true;
      return res;
    },
    write(chunk, ...rest) {
      write(chunk, rest[0]);
      callBack(rest, (done) => process.nextTick(done));
      return true;
    },
    end(chunk, ...rest) {
      if (isChunk(chunk)) checkChunk(chunk);
      completeHead();
      callBack([chunk, ...rest], (done) => res.once('finish', done));
      if (isChunk(chunk)) write(chunk, rest[0]);
      const { statusCode, statusMessage } = res;
      const response = {
        statusCode,
        statusMessage,
        range: answeredRange(res),
        headers: res.getHeaders(),
        body: body.bytes(),
      };
      finish({ why: 'ended', response });
      return res;
    },
  };
}

/** Sends a stored response, with its headers in place of whatever headers there are. */
export function sendStored(res: ServerResponse, stored: StoredResponse): void {
  replaceHeaders(res, stored.headers);
  endStored(res, stored);
}

function endStored(res: ServerResponse, { statusCode, statusMessage = '', body }: StoredResponse): void {
  res.statusCode = statusCode;
  res.statusMessage = statusMessage;
  endWhole(res, body);
}

/**
 * Ends a response with a body that is all of it. Node garbles a Content-Disposition beyond ASCII in a head whose length it works out by
 * itself: such a head is told its length and completed first.
 */
export function endWhole(res: ServerResponse, body: Uint8Array): void {
  unread.watch(res);
  if (body.length === 0) return void res.end();
  if (BEYOND_ASCII.test(String(res.getHeader('Content-Disposition') ?? ''))) {
    if (!res.hasHeader('Transfer-Encoding')) res.setHeader('Content-Length', body.length);
    res.writeHead(res.statusCode);
  }
  res.end(body);
}

const BEYOND_ASCII = /[\x80-\xff]/;

/** Collects the chunks of a body, up to a number of bytes. */
export function createBody(maxBytes: number) {
  let chunks: Buffer[] = [];
  let length = 0;
  return {
    /** False when it would be more than is held. */
    add(chunk: unknown, encoding: unknown): boolean {
      const bytes = toBuffer(chunk, encoding);
      length += bytes.length;
      if (length > maxBytes) {
        chunks = [];
        return false;
      }
      // Of small pieces each takes many times its bytes.
      if (chunks.length === MOST_CHUNKS) chunks = [Buffer.concat(chunks)];
      chunks.push(bytes);
      return true;
    },
    bytes: () => Buffer.concat(chunks),
  };
}

/** Whether an argument of `write` or `end` is part of the body. */
export function isChunk(chunk: unknown): boolean {
  return chunk !== undefined && chunk !== null && typeof chunk !== 'function';
}

function toBuffer(chunk: unknown, encoding: unknown): Buffer {
  if (chunk instanceof Uint8Array) return Buffer.from(chunk);
  return Buffer.from(String(chunk), isEncoding(encoding) ? encoding : 'utf8');
}

function isEncoding(encoding: unknown): encoding is BufferEncoding {
  return typeof encoding === 'string' && Buffer.isEncoding(encoding);
}
