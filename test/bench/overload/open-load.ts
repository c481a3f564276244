import { setTimeout as pause } from 'node:timers/promises';
import { Agent, request } from 'undici';
import type { Outgoing } from '../send-all.js';

/** What came of requests that were sent at a rate. */
export interface Served {
  /** How long those took that were served, in milliseconds. */
  readonly times: readonly number[];
  /** How many were told to come again. */
  readonly turnedAway: number;
  /** How many had another response, or none in time. */
  readonly lost: number;
}

/** Nobody waits longer for a response. Milliseconds. */
const PATIENCE_MS = 15_000;
const AGENT = new Agent({ connections: null, pipelining: 1 });

/** Sends requests at a rate, whether responses come or not, and waits for the last of them. Nobody comes again. */
export async function sendAtRate(requests: readonly Outgoing[], perSecond: number): Promise<Served> {
  const begin = performance.now();
  const outcomes: Promise<number | 'away' | 'lost'>[] = [];
  for (const [at, outgoing] of requests.entries()) {
    const restMs = (at * 1_000) / perSecond - (performance.now() - begin);
    if (restMs > 0) await pause(restMs);
    outcomes.push(outcomeOf(outgoing));
  }
  const all = await Promise.all(outcomes);
  return {
    times: all.filter((it) => typeof it === 'number'),
    turnedAway: all.filter((it) => it === 'away').length,
    lost: all.filter((it) => it === 'lost').length,
  };
}

async function outcomeOf({ url, headers }: Outgoing): Promise<number | 'away' | 'lost'> {
  const begin = performance.now();
  try {
    const signal = AbortSignal.timeout(PATIENCE_MS);
    const { statusCode, body } = await request(url, { dispatcher: AGENT, headers, signal });
    const text = await body.text();
    if (statusCode === 200) return performance.now() - begin;
    return text.includes('"too_many_payments"') ? 'away' : 'lost';
  } catch {
    return 'lost';
  }
}
