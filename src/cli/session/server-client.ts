import { type Dispatcher, request } from 'undici';
import { defined } from '../../lib/defined.js';
import { retryAfterMs } from '../../lib/http/retry-after.js';
import { plain } from '../../lib/plain-text.js';
import { trimEnd } from '../../lib/trim-end.js';
import { CommandError, RefusedError } from '../command.js';
import { connectionFault } from '../output/system-words.js';

/** Where `tollhouse serve` listens unless told otherwise. */
export const DEFAULT_SERVER = 'http://127.0.0.1:4020';

const TIMEOUT_MS = 90_000;

/** One request to a Tollhouse server. */
export interface ServerRequest {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** Below the server's address; with the query. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Goes as JSON. */
  readonly body?: object;
  /** Longest silence while the response comes, in milliseconds. Default 90,000. */
  readonly silenceMs?: number;
  readonly signal?: AbortSignal;
}

/** What came back, its body not read yet. */
export type ServerAnswer = Dispatcher.ResponseData;

/** A server did not answer. */
export class UnreachableError extends CommandError {}

/** Sends a request. Throws {@link UnreachableError} when no response comes; whatever the server answers is a response. */
export async function send(server: string, asked: ServerRequest): Promise<ServerAnswer> {
  const { method, path, body, signal, silenceMs = TIMEOUT_MS } = asked;
  const url = `${trimEnd(server, '/')}${path}`;
  const sent = body === undefined ? {} : { body: JSON.stringify(body) };
  const type = body === undefined ? {} : { 'content-type': 'application/json' };
  return request(url, {
    method,
    headers: { accept: 'application/json', ...type, ...asked.headers },
    ...sent,
    headersTimeout: TIMEOUT_MS,
    bodyTimeout: silenceMs,
    ...defined({ signal }),
  }).catch((error: unknown) => {
    throw new UnreachableError(
      `${url} cannot be reached (${connectionFault(error)}); is the server running? --server names another one`,
    );
  });
}

/** The body of a response as text. Problems become a {@link RefusedError}. */
export async function readResponseText(answer: ServerAnswer): Promise<string> {
  const text = await answer.body.text().catch((error: unknown) => {
    throw new UnreachableError(`the response broke off (${connectionFault(error)})`);
  });
  if (answer.statusCode < 400) return text;
  const problem = Object(jsonOf(text));
  const [code, detail, retryable]: unknown[] = ['code', 'detail', 'retryable'].map((it) => Reflect.get(problem, it));
  const told = typeof detail === 'string' ? plain(detail) : `the server answered ${answer.statusCode}`;
  const known = typeof code === 'string' ? plain(code) : undefined;
  throw new RefusedError(answer.statusCode, known, known === undefined ? told : `${known}: ${told}`, {
    retryable: typeof retryable === 'boolean' ? retryable : undefined,
    waitMs: retryAfterMs([answer.headers['retry-after']].flat()[0]),
    fields: fieldsOf(Reflect.get(problem, 'errors')),
  });
}

/** JSON pointers of the fields that a problem names. */
function fieldsOf(errors: unknown): readonly string[] {
  const pointers: unknown[] = Array.isArray(errors) ? errors.map((it) => Reflect.get(Object(it), 'pointer')) : [];
  return pointers.flatMap((it) => (typeof it === 'string' && it.startsWith('/') ? [plain(it)] : []));
}

/** The body of a response as JSON, undefined when it has none. Problems become a {@link RefusedError}. */
export async function readJson(answer: ServerAnswer): Promise<unknown> {
  const text = await readResponseText(answer);
  if (text === '') return undefined;
  const json = jsonOf(text);
  if (json !== undefined) return json;
  throw new CommandError(`the server answered ${answer.statusCode} without JSON; is it a Tollhouse server?`);
}

/** Posts JSON to a Tollhouse server, and reads the object that it answers. */
export async function postJson(
  server: string,
  path: string,
  body: object,
  { headers, signal }: Pick<ServerRequest, 'headers' | 'signal'> = {},
): Promise<Record<string, unknown>> {
  const asked = { method: 'POST', path, body, ...defined({ headers, signal }) } as const;
  return { ...Object(await readJson(await send(server, asked))) };
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
