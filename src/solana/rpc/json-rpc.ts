import type { Pool } from 'undici';
import { badOption } from '../../errors/errors.js';
import { loadUndici } from '../../lib/http/load-undici.js';
import { isRecord } from '../../lib/parsed.js';
import { connectionFailure } from './connection-failure.js';
import { type HttpResponse, post, ResponseTooLarge } from './http-post.js';
import { RpcError } from './rpc.js';

/** What one endpoint needs. */
export interface JsonRpcOptions {
  /** Address of the endpoint, `http:` or `https:`; a user and password in it are sent as basic authorization. */
  readonly url: string;
  /** Largest response that is read, in bytes. Default 16 MiB. */
  readonly maxResponseBytes?: number;
  /** Most connections kept open at once; further calls queue. Default 64. */
  readonly connections?: number;
}

/** One JSON-RPC 2.0 endpoint over HTTP, with kept-alive connections. */
export interface JsonRpcEndpoint {
  /** Host and port, for messages; never the path or the query. */
  readonly host: string;
  /**
   * Calls a method once and answers its `result`.
   *
   * @param timeoutMs - deadline for the whole call, connecting and reading included
   * @param maxBytes - largest response that is read; default: the endpoint's. A larger one is `too_large`
   * @throws {RpcError} in every case of failure, with `mayHaveArrived` where the request may have taken effect
   */
  call(method: string, params: readonly unknown[], timeoutMs: number, maxBytes?: number): Promise<unknown>;
  /** Ends the connections; calls under way fail with `closed`. */
  close(): Promise<void>;
}

const DEFAULT_MAX_ANSWER_BYTES = 16 * 1024 * 1024;
const DEFAULT_CONNECTIONS = 64;
const CONNECT_TIMEOUT_MS = 5_000;
const KEEP_ALIVE_MS = 30_000;
const LONGEST_RETRY_AFTER_MS = 60_000;

/** Codes that providers put into a JSON-RPC error to say "too many requests". */
const RATE_LIMIT_CODES = new Set([429, -32_429]);

/**
 * Opens an endpoint. Nothing is sent and no connection is made before the first call.
 *
 * @throws {TollhouseError} `bad_option` when the address is not an absolute http(s) URL
 */
export function createJsonRpcEndpoint(options: JsonRpcOptions): JsonRpcEndpoint {
  const url = parseUrl(options.url);
  const path = `${url.pathname}${url.search}`;
  const headers = { 'content-type': 'application/json', accept: 'application/json', ...authorization(url) };
  const poolOptions: Pool.Options = {
    connections: options.connections ?? DEFAULT_CONNECTIONS,
    keepAliveTimeout: KEEP_ALIVE_MS,
    connect: { timeout: CONNECT_TIMEOUT_MS },
    // Each call has a deadline of its own.
    headersTimeout: 0,
    bodyTimeout: 0,
  };
  const { maxResponseBytes = DEFAULT_MAX_ANSWER_BYTES } = options;
  const retiring = new Set<Connections>();
  let connections = openConnections(url.origin, poolOptions);
  let lastId = 0;

  /**
   * Silence may mean that the way to the other side is gone without a word, for every connection that is kept open: the next
   * calls go over new ones, and those under way on the old ones come to their end.
   */
  function retire(silent: Connections): void {
    if (silent !== connections) return;
    connections = openConnections(url.origin, poolOptions);
    retiring.add(silent);
    const forget = () => void retiring.delete(silent);
    silent.opening.then((it) => it.close()).then(forget, forget);
  }

  return {
    host: url.host,
    call(method, params, timeoutMs, maxBytes = maxResponseBytes) {
      const where = `${method} at ${url.host}`;
      const through = connections;
      const ask = (pool: Pool): Promise<unknown> => {
        lastId += 1;
        const id = lastId;
        const body = JSON.stringify({ jsonrpc: '2.0', id, method, params });
        return post(pool, {
          path,
          headers,
          body,
          maxBytes,
          timeoutMs,
          read: (response) => readResponse(where, id, response),
          failed: (cause, hasLeft) => (cause instanceof RpcError ? cause : transportError(where, cause, hasLeft)),
          late(hasLeft) {
            retire(through);
            return new RpcError('timeout', `${where}: no answer within ${timeoutMs} ms`, doubtIf(hasLeft));
          },
        });
      };
      return through.pool === undefined ? through.opening.then(ask) : ask(through.pool);
    },
    async close() {
      await Promise.all([connections, ...retiring].map(async ({ opening }) => (await opening).destroy()));
    },
  };
}

/** Connections to one endpoint. */
interface Connections {
  /** Undefined while undici is loaded: that is done from the first endpoint on, not with the package. */
  pool: Pool | undefined;
  readonly opening: Promise<Pool>;
}

function openConnections(origin: string, options: Pool.Options): Connections {
  const opening = loadUndici().then((undici) => {
    opened.pool = new undici.Pool(origin, options);
    return opened.pool;
  });
  const opened: Connections = { pool: undefined, opening };
  return opened;
}

function parseUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return url;
  throw badOption('Solana RPC', 'an endpoint must be an address such as "https://api.devnet.solana.com"', 'rpcUrl');
}

function authorization(url: URL): { authorization?: string } {
  if (url.username === '' && url.password === '') return {};
  const credentials = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
  return { authorization: `Basic ${Buffer.from(credentials).toString('base64')}` };
}

/**
 * Only a JSON-RPC reply to this very call is a node's own word. A status without one is the word of whatever stands before
 * the node, which may have passed the call on all the same.
 */
function readResponse(where: string, id: number, { status, headers, text }: HttpResponse): unknown {
  const retryAfter = headers['retry-after'];
  if (status === 429) throw rateLimited(where, retryAfter);
  if (status === 401 || status === 403) throw turnedAway(where, status);
  const message = parseMessage(text);
  const reply = message?.['jsonrpc'] === '2.0' && message['id'] === id ? message : undefined;
  if (reply !== undefined && 'error' in reply) throw answerError(where, reply['error'], retryAfter);
  if (status >= 400 && status < 500) throw turnedAway(where, status);
  if (status !== 200) throw badResponse(where, `answered HTTP ${status}`);
  if (message === undefined) throw badResponse(where, 'the answer is not JSON-RPC 2.0');
  if (reply === undefined) throw badResponse(where, 'the answer is not the JSON-RPC 2.0 reply to this call');
  if (!('result' in reply)) throw badResponse(where, 'the answer is not JSON-RPC 2.0');
  return reply['result'];
}

/** Balances over 2^53 lamports exist; as JSON numbers they would be rounded, so they are read as texts. */
function parseMessage(text: string): Record<string, unknown> | undefined {
  try {
    const exact = text.includes('"lamports"') ? text.replace(/"lamports"\s*:\s*(\d{16,})/g, '"lamports":"$1"') : text;
    const value: unknown = JSON.parse(exact);
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function answerError(where: string, error: unknown, retryAfter: string | string[] | undefined): RpcError {
  if (!isRecord(error) || typeof error['code'] !== 'number') return badResponse(where, 'the error has no code');
  const code = error['code'];
  if (RATE_LIMIT_CODES.has(code)) return rateLimited(where, retryAfter);
  const text = typeof error['message'] === 'string' ? error['message'].slice(0, 500) : 'no message';
  return new RpcError('answer', `${where}: ${text} (${code})`, { code, data: error['data'] });
}

function rateLimited(where: string, retryAfter: string | string[] | undefined): RpcError {
  const seconds = Number(retryAfter);
  const asked = Number.isFinite(seconds) && seconds > 0;
  const rest = asked ? { retryAfterMs: Math.min(seconds * 1_000, LONGEST_RETRY_AFTER_MS) } : {};
  return new RpcError('rate_limited', `${where}: too many requests`, { mayHaveArrived: true, ...rest });
}

function turnedAway(where: string, status: number): RpcError {
  const text = `${where}: answered HTTP ${status}; check the address and its key`;
  return new RpcError('unreachable', text, { mayHaveArrived: true });
}

/** The error for a response of the wrong shape. */
export function badResponse(where: string, what: string): RpcError {
  return new RpcError('bad_answer', `${where}: ${what}`, { mayHaveArrived: true });
}

function transportError(where: string, cause: unknown, hasLeft: boolean): RpcError {
  if (cause instanceof ResponseTooLarge) return tooLarge(where, cause);
  const { code } = connectionFailure(cause);
  const doubt = doubtIf(hasLeft);
  if (code === 'UND_ERR_DESTROYED' || code === 'UND_ERR_CLOSED')
    return new RpcError('closed', `${where}: closed`, doubt);
  const what = hasLeft ? 'connection lost' : 'no connection';
  return new RpcError('unreachable', `${where}: ${what} (${code})`, { cause, ...doubt });
}

/** What the node has to say of this call is too long, which is no fault of the node's. */
function tooLarge(where: string, { isReply, message }: ResponseTooLarge): RpcError {
  if (!isReply) return badResponse(where, message);
  return new RpcError('too_large', `${where}: ${message}`, { mayHaveArrived: true });
}

function doubtIf(hasLeft: boolean): { mayHaveArrived?: true } {
  return hasLeft ? { mayHaveArrived: true } : {};
}
