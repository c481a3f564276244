import type { Request, Response } from 'express';
import { onceOver } from '../../lib/http/connection-events.js';
import type { MaybePromise } from '../../lib/maybe-promise.js';
import { beginSpan, inSpan, isTraced, type OpenSpan, type SpanAttributes } from '../../telemetry/trace.js';
import type { Decision } from '../gate/gate.js';
import { problemCodeOf } from '../gate/respond.js';
import { deliverInTime } from '../response/deliver.js';

/**
 * Begins a span of a request, which ends with its response at the latest and then says how that ended. Where no span is active it goes on
 * with the caller's trace.
 * @returns undefined where nobody traces
 */
export function beginRequestSpan(
  name: string,
  req: Request,
  res: Response,
  attributes: SpanAttributes = {},
): OpenSpan | undefined {
  if (!isTraced()) return undefined;
  const { method, headers } = req;
  const span = beginSpan(name, { 'http.request.method': method, ...attributes }, { received: headers });
  if (span === undefined) return undefined;
  const end = (): void => {
    const { statusCode, headersSent } = res;
    if (headersSent) span.set({ 'http.response.status_code': statusCode, 'tollhouse.problem': problemCodeOf(res) });
    if (headersSent && statusCode >= 500) span.failed(String(statusCode));
    span.end();
  };
  onceOver(res, end);
  return { ...span, end };
}

/** Decides about a request, and carries the decision out, within one span. */
export function decidedInSpan(
  name: string,
  req: Request,
  res: Response,
  decide: () => MaybePromise<Decision>,
): MaybePromise<Decision> {
  const span = beginRequestSpan(name, req, res);
  if (span === undefined) return decide();
  return decideIn(span, decide);
}

async function decideIn(span: OpenSpan, decide: () => MaybePromise<Decision>): Promise<Decision> {
  try {
    const decision = await span.within(decide);
    if (!decision.admitted) return { ...decision, answer: () => span.within(() => decision.answer()) };
    return { ...decision, enter: (next) => span.within(() => decision.enter(next)) };
  } catch (error) {
    span.end();
    throw error;
  }
}

/** Runs the handler of a paid request as a span of its own. */
export function inHandlerSpan<T>(run: () => T): T {
  return inSpan('tollhouse.handler', {}, run);
}

/** {@link deliverInTime} as a span of its own. */
export function deliver(res: Response, timeoutMs: number, send: () => void): Promise<boolean> {
  return inSpan('tollhouse.deliver', {}, () => deliverInTime(res, timeoutMs, send));
}
