import type { IncomingMessage } from 'node:http';
import { inSpan, type SpanAttributes, type TraceSpan } from '../../telemetry/trace.js';
import type { ExchangeEnd, ExchangeFailure } from './exchange-rules.js';
import { methodOf } from './upstream-fields.js';

/** Why a call was not passed on, or its response was not. */
export type ForwardFailure = ExchangeFailure | 'invalid_request' | 'method_not_allowed';

/** What came of asking an upstream. */
export interface UpstreamAttempt {
  readonly end: ExchangeEnd<ForwardFailure>;
  readonly durationMs: number;
}

/** Asks an upstream as a span of a client. */
export function inUpstreamSpan(
  req: IncomingMessage,
  url: string,
  ask: () => Promise<UpstreamAttempt>,
): Promise<UpstreamAttempt> {
  const run = (span: TraceSpan | undefined): Promise<UpstreamAttempt> => {
    span?.set(aboutUpstream(req, url));
    return ask().then((it) => tellEnd(span, it));
  };
  return inSpan(methodOf(req), {}, run, { kind: 'client' });
}

/** By OpenTelemetry's conventions; without the path, which may hold a key of the API that is sold. */
function aboutUpstream(req: IncomingMessage, url: string): SpanAttributes {
  const { hostname, port, protocol } = new URL(url);
  const standard = protocol === 'https:' ? 443 : 80;
  return {
    'http.request.method': methodOf(req),
    'server.address': hostname,
    'server.port': port === '' ? standard : Number(port),
  };
}

function tellEnd(span: TraceSpan | undefined, attempt: UpstreamAttempt): UpstreamAttempt {
  const { end } = attempt;
  span?.set({ 'http.response.status_code': end.status });
  if (!end.delivered) span?.failed(end.reason);
  else if (end.status >= 400) span?.failed(String(end.status));
  return attempt;
}
