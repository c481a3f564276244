import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { applyHead } from './apply-head.js';

/** An answer as the handler gave it. */
export interface HeldAnswer {
  readonly statusCode: number;
  readonly statusMessage: string;
  readonly headers: OutgoingHttpHeaders;
  readonly body: Buffer;
}

/**
 * Why the wait for the handler is over: it answered, it answered more than is held, the client went away, or nothing came
 * in time.
 */
export type HoldEnd =
  | { readonly why: 'answered'; readonly answer: HeldAnswer }
  | { readonly why: 'too_large' | 'client_gone' | 'timeout' };

/** A response whose handler writes into memory. */
export interface Holding {
  /** Resolves when the handler is done, or the wait is over. From then on nothing that the handler does reaches the client. */
  readonly ended: Promise<HoldEnd>;
  /** Lets `write` answer the client through the response, with the headers it had before the handler ran. */
  answer(write: () => void): void;
  /** Holds no longer: the response is again what it was before the handler ran, unless an answer was let out. */
  giveUp(): void;
}

/** Bounds of what is held. */
export interface HoldLimits {
  /** Bytes of the body. */
  readonly maxBytes: number;
  /** Milliseconds until the handler must have answered. */
  readonly timeoutMs: number;
}

/**
 * `hold`: the handler's calls are kept; `mute`: they do nothing; `open`: they reach the client; `out`: the answer was let
 * out, the handler is mute, and wrappers that send it later may still see to its head.
 */
type Mode = 'hold' | 'mute' | 'open' | 'out';

type Method = (...args: unknown[]) => unknown;

/**
 * Holds what the handler answers until its price is paid. Everybody keeps the response object that Express hands around;
 * its methods keep to themselves what they are told. Wrappers such as compression were put on earlier and see the answer
 * when it is let out.
 */
export function holdAnswer(res: ServerResponse, limits: HoldLimits): Holding {
  const before = { ...res.getHeaders() };
  const body = createBody(limits.maxBytes);
  let mode: Mode = 'hold';
  let headWritten = false;
  let settle: (end: HoldEnd) => void = () => {};
  const ended = new Promise<HoldEnd>((resolve) => {
    settle = resolve;
  });

  function finish(end: HoldEnd): void {
    if (mode !== 'hold') return;
    mode = 'mute';
    clearTimeout(timer);
    settle(end);
  }

  function write(chunk: unknown, encoding: unknown): boolean {
    headWritten = true;
    if (!body.add(chunk, encoding)) finish({ why: 'too_large' });
    return true;
  }

  const timer = setTimeout(() => finish({ why: 'timeout' }), limits.timeoutMs);
  res.once('close', () => finish({ why: 'client_gone' }));
  interceptMethods(res, () => mode, {
    write(chunk, ...rest) {
      callBack(rest, (done) => process.nextTick(done));
      return write(chunk, rest[0]);
    },
    end(chunk, ...rest) {
      callBack([chunk, ...rest], (done) => res.once('finish', done));
      if (isChunk(chunk)) write(chunk, rest[0]);
      const { statusCode, statusMessage } = res;
      finish({
        why: 'answered',
        answer: { statusCode, statusMessage, headers: { ...res.getHeaders() }, body: body.bytes() },
      });
      return res;
    },
    writeHead(status, ...rest) {
      applyHead(res, Number(status), rest);
      headWritten = true;
      return res;
    },
  });
  // After an error Express cuts the connection of a response whose headers are sent; while it is mute they are not.
  const headersSent = () => (mode === 'hold' ? headWritten : isHeadSent(res));
  Object.defineProperty(res, 'headersSent', { configurable: true, get: headersSent });

  return {
    ended,
    answer(writeAnswer) {
      mode = 'open';
      replaceHeaders(res, before);
      res.statusMessage = '';
      writeAnswer();
      mode = 'out';
    },
    giveUp() {
      if (mode === 'out') return;
      clearTimeout(timer);
      mode = 'open';
      replaceHeaders(res, before);
    },
  };
}

function isHeadSent(res: ServerResponse): boolean {
  return Boolean(Reflect.get(Object.getPrototypeOf(res), 'headersSent', res));
}

/** Sends a held answer, with some headers more. */
export function sendHeldAnswer(res: ServerResponse, answer: HeldAnswer, headers: OutgoingHttpHeaders): void {
  replaceHeaders(res, { ...answer.headers, ...headers });
  res.statusCode = answer.statusCode;
  res.statusMessage = answer.statusMessage;
  if (answer.body.length > 0) res.end(answer.body);
  else res.end();
}

function replaceHeaders(res: ServerResponse, headers: OutgoingHttpHeaders): void {
  for (const name of res.getHeaderNames()) res.removeHeader(name);
  for (const [name, value] of Object.entries(headers)) if (value !== undefined) res.setHeader(name, value);
}

function createBody(maxBytes: number) {
  const chunks: Buffer[] = [];
  let length = 0;
  return {
    /** False when it would be more than is held. */
    add(chunk: unknown, encoding: unknown): boolean {
      const bytes = toBuffer(chunk, encoding);
      length += bytes.length;
      if (length > maxBytes) return false;
      chunks.push(bytes);
      return true;
    },
    bytes: () => Buffer.concat(chunks),
  };
}

/** These would send something at once, so they wait for no answer. */
const SENDING_METHODS = ['flushHeaders', 'writeContinue', 'writeProcessing', 'writeEarlyHints', 'addTrailers'];
/** These only prepare the head; they do so until the handler is done. */
const HEAD_METHODS = ['setHeader', 'setHeaders', 'appendHeader', 'removeHeader'];

function interceptMethods(
  res: ServerResponse,
  mode: () => Mode,
  holding: Readonly<Record<'write' | 'end' | 'writeHead', Method>>,
): void {
  const whileHolding: Record<string, Method | undefined> = { ...holding };
  for (const name of [...Object.keys(holding), ...SENDING_METHODS, ...HEAD_METHODS]) {
    const original: unknown = Reflect.get(res, name);
    if (typeof original !== 'function') continue;
    const pass: Method = (...args) => Reflect.apply(original, res, args);
    const nothing: Method = (...args) => {
      callBack(args, (done) => process.nextTick(done, new Error('the answer is over, nothing more is sent')));
      if (name === 'write') return true;
      return SENDING_METHODS.includes(name) ? undefined : res;
    };
    const isHead = HEAD_METHODS.includes(name) || name === 'writeHead';
    const reactions: Readonly<Record<Mode, Method>> = {
      hold: whileHolding[name] ?? (isHead ? pass : nothing),
      mute: nothing,
      open: pass,
      out: (...args) => (isHead && !isHeadSent(res) ? pass(...args) : nothing(...args)),
    };
    Reflect.set(res, name, (...args: unknown[]) => reactions[mode()](...args));
  }
}

function isChunk(chunk: unknown): boolean {
  return chunk !== undefined && chunk !== null && typeof chunk !== 'function';
}

function toBuffer(chunk: unknown, encoding: unknown): Buffer {
  if (chunk instanceof Uint8Array) return Buffer.from(chunk);
  if (typeof chunk === 'string') return Buffer.from(chunk, isEncoding(encoding) ? encoding : 'utf8');
  throw new TypeError('an answer is written as string, Buffer or Uint8Array');
}

function isEncoding(encoding: unknown): encoding is BufferEncoding {
  return typeof encoding === 'string' && Buffer.isEncoding(encoding);
}

function callBack(args: readonly unknown[], schedule: (done: (error?: Error) => void) => void): void {
  const done = args.find((it) => typeof it === 'function');
  if (typeof done === 'function')
    schedule((error) => Reflect.apply(done, undefined, error === undefined ? [] : [error]));
}
