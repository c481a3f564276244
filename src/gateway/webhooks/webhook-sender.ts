import { performance } from 'node:perf_hooks';
import type { Dispatcher } from 'undici';
import type { AddressGuard } from '../network-guard/address-guard.js';
import { openAgent } from '../network-guard/open-agent.js';

/** One message to one address. */
export interface WebhookRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** How long the whole exchange may take, in milliseconds. Default: the sender's. */
  readonly timeoutMs?: number;
}

/** What came back. */
export interface WebhookResponse {
  readonly durationMs: number;
  /** HTTP status, as soon as there was one. */
  readonly status?: number;
  /** Why there was no whole response: `timeout`, or the code of what went wrong, such as `ECONNREFUSED`. */
  readonly error?: string;
  /** The header `Retry-After`. */
  readonly retryAfter?: string;
  /** The beginning of the body, as text. */
  readonly answer?: string;
}

/** Options of {@link createWebhookSender}. */
export interface WebhookSenderOptions {
  readonly guard: Pick<AddressGuard, 'connect'>;
  /** How long a whole exchange may take, in milliseconds, unless the request says it. Default 15,000. */
  readonly timeoutMs?: number;
}

/** Sends messages over HTTP. */
export interface WebhookSender {
  /** Posts a message and follows no redirect. Every failure is a response; nothing rejects. */
  send(request: WebhookRequest): Promise<WebhookResponse>;
  /** Ends the connections; messages under way fail. */
  close(): Promise<void>;
}

const TIMEOUT_MS = 15_000;
/** So much of a response is read, in bytes. */
const MAX_ANSWER_BYTES = 4_096;
const MAX_HEADER_BYTES = 16 * 1024;
const IDLE_MS = 10_000;
const NUL = /\0/g;

/** Makes a sender, whose every connection is checked by the guard. Nothing is connected before the first message. */
export function createWebhookSender({ guard, timeoutMs = TIMEOUT_MS }: WebhookSenderOptions): WebhookSender {
  const opened = openAgent({ connect: guard.connect, keepAliveTimeout: IDLE_MS, maxHeaderSize: MAX_HEADER_BYTES });

  return {
    async send({ url, headers, body, timeoutMs: ofRequestMs = timeoutMs }) {
      const agent = await opened;
      const began = performance.now();
      const deadline = new AbortController();
      const timer = setTimeout(() => deadline.abort(), ofRequestMs);
      const { origin, pathname, search } = new URL(url);
      const path = `${pathname}${search}`;
      const seen: { status?: number; retryAfter?: string } = {};
      const took = () => ({ ...seen, durationMs: performance.now() - began });
      try {
        const answer = await agent.request({ origin, path, method: 'POST', headers, body, signal: deadline.signal });
        seen.status = answer.statusCode;
        const retryAfter = answer.headers['retry-after'];
        if (typeof retryAfter === 'string') seen.retryAfter = retryAfter;
        return { answer: await beginningOf(answer.body), ...took() };
      } catch (error) {
        return { error: deadline.signal.aborted ? 'timeout' : codeOf(error), ...took() };
      } finally {
        clearTimeout(timer);
      }
    },
    close: async () => (await opened).destroy(),
  };
}

/** Reads no more than that; the rest goes with the connection. */
async function beginningOf(body: Dispatcher.ResponseData['body']): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  body.on('error', () => {});
  for await (const chunk of body) {
    chunks.push(chunk);
    size += chunk.length;
    if (size >= MAX_ANSWER_BYTES) break;
  }
  // A database's text cannot hold the character zero.
  return Buffer.concat(chunks).subarray(0, MAX_ANSWER_BYTES).toString().replace(NUL, '\ufffd');
}

function codeOf(error: unknown): string {
  const cause = Reflect.get(Object(error), 'cause');
  for (const it of [error, cause]) {
    const code: unknown = Reflect.get(Object(it), 'code');
    if (typeof code === 'string') return code;
  }
  return 'failed';
}
