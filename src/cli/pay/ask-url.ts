import { request } from 'undici';
import { retryAfterMs } from '../../lib/http/retry-after.js';
import { readReceipt } from '../../protocol/wire/client.js';
import { CommandError } from '../command.js';
import { connectionFault } from '../output/system-words.js';
import type { Attempt } from './repeat-payment.js';

/** Longest wait for a response: a settlement may take as long as a blockhash lives. */
const RESPONSE_TIMEOUT_MS = 120_000;

/** A request to a URL that takes payments. */
export interface PayableRequest {
  readonly url: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
}

/** A response, read to its end. */
export interface UrlResponse {
  readonly status: number;
  /** As it came. */
  readonly body: Buffer;
  header(name: string): string | null;
}

/** Statuses after which the same payment is sent again, unless the server says that this is of no use. */
const OPEN_STATUSES = new Set([409, 429, 502, 503, 504]);

/** Sends a request without a payment. Throws {@link CommandError} when no whole response comes. */
export async function askUrl(asked: PayableRequest): Promise<UrlResponse> {
  return ask(asked).catch((error: unknown) => {
    throw new CommandError(`${asked.url} cannot be reached (${connectionFault(error)})`);
  });
}

/** Sends a request with its payment. A cut connection, and a response that asks to come again, decide nothing. */
export async function tryPayment(asked: PayableRequest, signal: AbortSignal): Promise<Attempt<UrlResponse>> {
  try {
    const response = await ask(asked, signal);
    if (!isOpen(response)) return { decided: true, response };
    const told = `${response.status}: ${reasonGiven(response) ?? 'the server gave no reason'}`;
    return { decided: false, told, waitMs: retryAfterMs(response.header('retry-after')) };
  } catch (error) {
    return { decided: false, told: `the response did not arrive (${connectionFault(error)})` };
  }
}

/** The body as text; what is no UTF-8 is replaced in it. */
export function bodyText({ body }: Pick<UrlResponse, 'body'>): string {
  return new TextDecoder().decode(body);
}

/** Why it was refused, if the server tells. */
export function reasonGiven(response: UrlResponse): string | undefined {
  const receipt = readReceipt(response.header);
  const told = receipt?.['errorMessage'] ?? receipt?.['errorReason'];
  if (typeof told === 'string') return told;
  const detail = problemField(response, 'detail') ?? problemField(response, 'error');
  return typeof detail === 'string' ? detail : undefined;
}

/** The code of a problem; undefined for other responses. */
export function problemCode(response: UrlResponse): string | undefined {
  const code = problemField(response, 'code');
  return typeof code === 'string' ? code : undefined;
}

/** Whether a response asks for a wallet's sign-in before all else: no payment opens it. */
export function asksToSignIn(response: UrlResponse): boolean {
  return problemCode(response) === 'sign_in_required';
}

function isOpen(response: UrlResponse): boolean {
  const { status, header } = response;
  if (!OPEN_STATUSES.has(status) || readReceipt(header)?.['success'] === true) return false;
  return problemField(response, 'retryable') !== false;
}

/** A member of a problem, or of any other JSON object; undefined where there is none. */
export function problemField(response: UrlResponse, name: string): unknown {
  try {
    return Reflect.get(Object(JSON.parse(bodyText(response))), name);
  } catch {
    return undefined;
  }
}

async function ask({ url, method, headers, body }: PayableRequest, signal?: AbortSignal): Promise<UrlResponse> {
  const answer = await request(url, {
    method,
    headers: { accept: '*/*', ...headers },
    headersTimeout: RESPONSE_TIMEOUT_MS,
    bodyTimeout: RESPONSE_TIMEOUT_MS,
    ...(body === undefined ? {} : { body }),
    ...(signal === undefined ? {} : { signal }),
  });
  const header = (name: string) => [answer.headers[name.toLowerCase()]].flat()[0] ?? null;
  return { status: answer.statusCode, body: Buffer.from(await answer.body.arrayBuffer()), header };
}
