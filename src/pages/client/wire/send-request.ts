import type { PageRequest } from '../../paywall/paywall-data.js';
import { fromBase64 } from './bytes.js';

/** What browsers ask for who open a page: handlers answer as they would have answered that. */
const ACCEPT = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';

/** Sends the request of the page again, with headers of ours. A redirect is not followed: it is an answer, for the browser to follow. */
export function sendRequest(
  { method, body, url = location.href, headers: own, credentials = 'same-origin' }: PageRequest,
  headers: Readonly<Record<string, string>>,
): Promise<Response> {
  const sent = body === undefined ? {} : { 'Content-Type': body.type };
  return fetch(url, {
    method,
    headers: { Accept: ACCEPT, ...sent, ...own, ...headers },
    ...(body === undefined ? {} : { body: fromBase64(body.base64) }),
    redirect: 'manual',
    cache: 'no-store',
    credentials,
  });
}

/** Whether an answer is what lies behind the gate. Of a redirect a script sees no more than that it is one. */
export function isIn({ ok, type, status }: Response): boolean {
  return ok || type === 'opaqueredirect' || status === 304;
}

/** The JSON object that an answer has; empty where it has none. */
export async function problemOf(answer: Response): Promise<Readonly<Record<string, unknown>>> {
  try {
    const json: unknown = await answer.json();
    return typeof json === 'object' && json !== null ? { ...json } : {};
  } catch {
    return {};
  }
}

/** Waits for so many seconds. */
export function pause(seconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, seconds * 1_000));
}
