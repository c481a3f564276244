import type { Pool } from 'undici';
import { loadUndici } from '../../lib/http/load-undici.js';
import type { Parsed } from '../../lib/parsed.js';
import { trimEnd } from '../../lib/trim-end.js';
import { connectionFailure } from '../../solana/rpc/connection-failure.js';

/** What is asked of another facilitator: the last part of the path. */
export type RemoteOperation = 'supported' | 'verify' | 'settle' | 'health';

/** A call that is about to be made. */
export interface RemoteRequest {
  readonly operation: RemoteOperation;
  readonly method: 'GET' | 'POST';
  /** The whole address. */
  readonly url: string;
}

type Headers = Readonly<Record<string, string>>;

/** Headers for another facilitator: the same for every call, or made for each. */
export type RemoteHeaders = Headers | ((request: RemoteRequest) => Headers | Promise<Headers>);

/** What a client needs. */
export interface RemoteClientOptions {
  /** Address without the operation. */
  readonly url: string;
  readonly headers: RemoteHeaders;
}

/** A call to another facilitator that got no response to its question. The message names the host, never the path. */
export class RemoteFault extends Error {
  override readonly name = 'RemoteFault';
  /**
   * @param mayHaveActed - false only when the call provably did not leave, or the facilitator itself says that it did nothing
   */
  constructor(
    message: string,
    readonly mayHaveActed: boolean,
    cause?: unknown,
  ) {
    super(message, cause === undefined ? undefined : { cause });
  }
}

/** One facilitator's HTTP API (protocol/README.md, "Facilitator API"). */
export interface RemoteClient {
  /** Host and port, for messages. */
  readonly host: string;
  /**
   * Asks once and answers what `read` makes of the body; some facilitators send their refusals with a 4xx status, so the
   * body counts before the status. Redirects are not followed.
   *
   * @param body - POST when given, else GET
   * @param timeoutMs - deadline for the whole call, connecting and reading included
   * @throws {RemoteFault} in every case of failure
   */
  ask<T>(operation: RemoteOperation, body: object | undefined, timeoutMs: number, read: Reader<T>): Promise<T>;
  /** Ends the connections; calls under way fail. */
  close(): Promise<void>;
}

type Reader<T> = (body: unknown) => Parsed<T>;

interface HttpResponse {
  readonly status: number;
  readonly text: string;
}

const CONNECT_TIMEOUT_MS = 5_000;
const MAX_ANSWER_BYTES = 1024 * 1024;
const POOL: Pool.Options = { connect: { timeout: CONNECT_TIMEOUT_MS }, maxResponseSize: MAX_ANSWER_BYTES };
/**
 * The codes with which Tollhouse says that it charged nothing. A status alone says nothing: a gateway may give it after it has
 * passed the call on.
 */
const UNCHARGED: ReadonlySet<unknown> = new Set([
  'payment_backend_unavailable',
  'fee_limit_reached',
  'too_many_payments',
  'rate_limited',
]);

/** Opens a client. Nothing is sent and no connection is made before the first call. */
export function createRemoteClient({ url, headers }: RemoteClientOptions): RemoteClient {
  const base = trimEnd(url, '/');
  const { origin, host } = new URL(base);
  const opened = openPools(origin);

  async function send(
    { kept, fresh }: Pools,
    request: RemoteRequest,
    body: object | undefined,
    signal: AbortSignal,
  ): Promise<HttpResponse> {
    const { method, operation } = request;
    const { pathname: path } = new URL(request.url);
    const common = { accept: 'application/json', ...(await headersFor(headers, request, signal)) };
    const sent = body === undefined ? {} : { body: JSON.stringify(body) };
    const all = body === undefined ? common : { ...common, 'content-type': 'application/json' };
    const call = { method, path, headers: all, signal, ...sent };
    const answer = await (operation === 'settle' ? fresh.request({ ...call, reset: true }) : kept.request(call));
    return { status: answer.statusCode, text: await answer.body.text() };
  }

  return {
    host,
    async ask(operation, body, timeoutMs, read) {
      const where = `/${operation} at ${host}`;
      const pools = await opened;
      const deadline = new AbortController();
      const timer = setTimeout(() => deadline.abort(), timeoutMs);
      const method = body === undefined ? 'GET' : 'POST';
      try {
        const answer = await send(pools, { operation, method, url: `${base}/${operation}` }, body, deadline.signal);
        return readResponse(where, answer, read);
      } catch (error) {
        if (error instanceof RemoteFault) throw error;
        if (deadline.signal.aborted) throw new RemoteFault(`${where}: no answer within ${timeoutMs} ms`, true, error);
        const { code, mayHaveArrived } = connectionFailure(error);
        throw new RemoteFault(`${where}: no answer (${code})`, mayHaveArrived, error);
      } finally {
        clearTimeout(timer);
      }
    },
    async close() {
      const { kept, fresh } = await opened;
      await Promise.all([kept.destroy(), fresh.destroy()]);
    },
  };
}

interface Pools {
  readonly kept: Pool;
  /** A kept connection that the other side is just giving up would leave it open whether a settlement has begun. */
  readonly fresh: Pool;
}

/** Loads undici, from the first client on, not with the package. */
async function openPools(origin: string): Promise<Pools> {
  const { Pool } = await loadUndici();
  return { kept: new Pool(origin, POOL), fresh: new Pool(origin, POOL) };
}

async function headersFor(headers: RemoteHeaders, request: RemoteRequest, signal: AbortSignal): Promise<Headers> {
  if (typeof headers !== 'function') return headers;
  try {
    return await Promise.race([headers(request), aborted(signal)]);
  } catch (error) {
    const what = signal.aborted ? 'did not come in time' : 'could not be made';
    throw new RemoteFault(`the headers for /${request.operation} ${what}`, false, error);
  }
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}

function readResponse<T>(where: string, { status, text }: HttpResponse, read: Reader<T>): T {
  const body = parseJson(text);
  const reading = read(body);
  if (reading.ok) return reading.value;
  const what = status === 200 ? `the answer is not understood, ${reading.detail}` : `answered HTTP ${status}`;
  throw new RemoteFault(`${where}: ${what}`, !UNCHARGED.has(codeOf(body)));
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function codeOf(body: unknown): unknown {
  return typeof body === 'object' && body !== null ? Reflect.get(body, 'code') : undefined;
}
