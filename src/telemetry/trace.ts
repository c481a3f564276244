import type * as OpenTelemetry from '@opentelemetry/api';
import { isPending } from '../lib/maybe-promise.js';
import { doWithout } from '../lib/optional-packages.js';
import { VERSION } from '../lib/version.js';

/** What is said of a span: by OpenTelemetry's conventions where there is one, under `tollhouse.` else. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean | undefined>>;

/** Something that is measured, as part of a trace. */
export interface TraceSpan {
  /** Says more of it. */
  set(attributes: SpanAttributes): void;
  /** Has it count as failed. @param type - a code or a class, never a text with anybody's data in it */
  failed(type: string): void;
}

/** A span that is ended by whoever began it. */
export interface OpenSpan extends TraceSpan {
  /** Runs something within it: spans that begin there are its children. */
  within<T>(run: () => T): T;
  /** Ends it; a second time changes nothing. */
  end(): void;
}

/** Where a span stands. */
export interface SpanPlace {
  /** `client`: of a request that this process makes. Default: of work within it. */
  readonly kind?: 'client';
  /** Header fields of a request; where no span is active in this process, its sender's trace goes on, as one of the kind `server`. */
  readonly received?: Readonly<Record<string, string | readonly string[] | undefined>>;
}

type Api = typeof OpenTelemetry;

/** The key by which OpenTelemetry's instrumentations are told to leave something alone. */
const SUPPRESSED = 'OpenTelemetry SDK Context Key SUPPRESS_TRACING';

/** An SDK may be registered late; it is looked for so seldom that this costs nothing. */
const LOOK_AGAIN_MS = 1_000;

let api: Api | undefined;
let tracer: OpenTelemetry.Tracer | undefined;
let isLoading = false;
let isRegistered = false;
let lookedAt = Number.NEGATIVE_INFINITY;

/**
 * Has spans made from soon on, where `@opentelemetry/api` is installed. It does nothing without an SDK, which whoever runs the
 * program registers, before or after.
 */
export function loadTracing(): void {
  if (isLoading) return;
  isLoading = true;
  void loadApi().then(
    (loaded) => {
      api = loaded;
      tracer = loaded?.trace.getTracer('tollhouse', VERSION);
    },
    // A package that is broken costs the trace, not the payment.
    () => {},
  );
}

async function loadApi(): Promise<Api | undefined> {
  try {
    return await import('@opentelemetry/api');
  } catch (cause) {
    return doWithout('@opentelemetry/api', cause);
  }
}

/** Whether spans are made: for who would else gather what they say for nobody. */
export function isTraced(): boolean {
  return api !== undefined && tracer !== undefined && hasSdk(api, tracer);
}

/**
 * Begins a span; whoever does so ends it.
 * @returns undefined where nobody traces
 */
export function beginSpan(name: string, attributes: SpanAttributes, place: SpanPlace = {}): OpenSpan | undefined {
  if (api === undefined || tracer === undefined || !hasSdk(api, tracer)) return undefined;
  const { context, propagation, trace } = api;
  const active = context.active();
  const isFirst = place.received !== undefined && trace.getSpan(active) === undefined;
  const parent = isFirst ? propagation.extract(active, place.received) : active;
  const span = tracer.startSpan(name, { kind: kindOf(api, place, isFirst), attributes: { ...attributes } }, parent);
  return openSpan(api, span, trace.setSpan(parent, span));
}

/** Whether an SDK was registered: the package alone makes spans that are none, at the cost of real ones. */
function hasSdk({ isSpanContextValid }: Api, asked: OpenTelemetry.Tracer): boolean {
  if (isRegistered) return true;
  // A clock that was set back must not keep it from looking.
  const now = Date.now();
  if (Math.abs(now - lookedAt) < LOOK_AGAIN_MS) return false;
  lookedAt = now;
  isRegistered = isSpanContextValid(asked.startSpan('tollhouse', { root: true }).spanContext());
  return isRegistered;
}

/**
 * Runs something as a span of its own, until its promise is settled. Where nobody traces it is run, and nothing else happens.
 * @param run - is given the span, to say more of it; undefined where nobody traces
 */
export function inSpan<T>(
  name: string,
  attributes: SpanAttributes,
  run: (span: TraceSpan | undefined) => T,
  place?: SpanPlace,
): T {
  const span = isTraced() ? beginSpan(name, attributes, place) : undefined;
  return span === undefined ? run(undefined) : runIn(span, run);
}

function runIn<T>(span: OpenSpan, run: (span: TraceSpan | undefined) => T): T {
  const fail = (error: unknown): void => {
    span.failed(typeOf(error));
    span.end();
  };
  try {
    const result = span.within(() => run(span));
    if (isPending(result)) result.then(() => span.end(), fail);
    else span.end();
    return result;
  } catch (error) {
    fail(error);
    throw error;
  }
}

/** Header fields by which a request that is made here goes on with the trace; none where nobody traces. */
export function traceHeaders(): Readonly<Record<string, string>> {
  const fields: Record<string, string> = {};
  api?.propagation.inject(api.context.active(), fields);
  return fields;
}

/** Runs something that instrumentations of others leave alone, as what bears the fields of {@link traceHeaders} already. */
export function untraced<T>(run: () => T): T {
  if (api === undefined) return run();
  const { context, createContextKey } = api;
  return context.with(context.active().setValue(createContextKey(SUPPRESSED), true), run);
}

function kindOf({ SpanKind }: Api, { kind }: SpanPlace, isFirst: boolean): OpenTelemetry.SpanKind {
  if (kind === 'client') return SpanKind.CLIENT;
  return isFirst ? SpanKind.SERVER : SpanKind.INTERNAL;
}

function openSpan({ context, SpanStatusCode }: Api, span: OpenTelemetry.Span, own: OpenTelemetry.Context): OpenSpan {
  let isOver = false;
  return {
    within: (run) => context.with(own, run),
    set: (attributes) => void span.setAttributes({ ...attributes }),
    failed(type) {
      span.setAttribute('error.type', type).setStatus({ code: SpanStatusCode.ERROR });
    },
    end() {
      if (!isOver) span.end();
      isOver = true;
    },
  };
}

/** An error's message may quote what came from outside; its code and its class do not. */
function typeOf(error: unknown): string {
  const { code, name }: { readonly code?: unknown; readonly name?: unknown } = Object(error);
  return String(code ?? name ?? 'unknown');
}
