import type { ServerResponse } from 'node:http';
import { isClientGone, onceOver } from '../../lib/http/connection-events.js';
import type { ExchangeEnd } from './exchange-rules.js';
import { CONNECTION_RESET } from './told-resets.js';

/** How often, and for how long in all, a call is sent again. */
export interface RetryRules {
  /** How often it is sent again at most. */
  readonly retries: number;
  /** For all tries together, until the head of the response, in milliseconds. */
  readonly timeoutMs: number;
}

const FIRST_PAUSE_MS = 100;

/** Of connections that were not made, or broke; not those that may not be made, or whose certificate is wrong. */
const PASSING: ReadonlySet<unknown> = new Set([
  'EAI_AGAIN',
  'ECONNABORTED',
  'ECONNREFUSED',
  'ECONNRESET',
  CONNECTION_RESET,
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EPIPE',
  'ETIMEDOUT',
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_SOCKET',
]);

/**
 * Sends a call that may be repeated until some of a response has come, at most so often. A caller who leaves ends it.
 * @param send - one try, which may take so many milliseconds
 */
export async function withRetries(
  res: ServerResponse,
  { retries, timeoutMs }: RetryRules,
  send: (timeoutMs: number) => Promise<ExchangeEnd>,
): Promise<ExchangeEnd> {
  const deadline = performance.now() + timeoutMs;
  for (let tries = 0, pauseMs = FIRST_PAUSE_MS; ; tries += 1, pauseMs *= 2) {
    const leftMs = deadline - performance.now();
    const end = await send(tries === 0 ? timeoutMs : leftMs);
    const isLast = tries >= retries || performance.now() + pauseMs >= deadline;
    if (isLast || !isUnanswered(end)) return end;
    await pauseWhileOpen(res, pauseMs);
    if (isClientGone(res)) return { delivered: false, reason: 'client_gone' };
  }
}

/** Whether the connection failed, and no byte of a response came before that. */
function isUnanswered(end: ExchangeEnd): boolean {
  if (end.delivered || end.isAnswered) return false;
  const isOfConnection = end.reason === 'upstream_unreachable' || end.reason === 'upstream_reset';
  return isOfConnection && PASSING.has(Reflect.get(Object(end.cause), 'code'));
}

function pauseWhileOpen(res: ServerResponse, pauseMs: number): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      stop();
      resolve();
    };
    const timer = setTimeout(end, pauseMs);
    const stop = onceOver(res, end);
  });
}
