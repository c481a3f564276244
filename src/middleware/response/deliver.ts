import type { ServerResponse } from 'node:http';
import { delivered } from './response-end.js';

/**
 * Sends a response. What its client has not taken in time is broken off.
 * @returns whether its client has had it
 */
export function deliverInTime(res: ServerResponse, timeoutMs: number, send: () => void): Promise<boolean> {
  // First: what cannot be sent is waited for by nothing. Of what is, nothing is told before the next turn.
  send();
  const late = setTimeout(() => res.destroy(), timeoutMs).unref();
  return delivered(res, 2 * timeoutMs).finally(() => clearTimeout(late));
}
