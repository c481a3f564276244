import { context, propagation, SpanKind, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import { until } from '../until.js';

/** What a program registers that wants to be traced, with the spans kept in this process. */
export interface Traces {
  /** Ends it: nothing is traced any more. */
  stop(): Promise<void>;
  /** Forgets what was traced. */
  reset(): void;
  /** All that was traced. */
  all(): readonly ReadableSpan[];
  /** The spans of the trace that has one of this name, as a tree, once that one is over. */
  treeWith(name: string): Promise<SpanTree>;
}

/** A span with those within it, in the order in which they began. */
export interface SpanTree {
  readonly span: ReadableSpan;
  readonly children: readonly SpanTree[];
}

const NANOSECONDS = 1e9;
const startOf = ({ startTime: [seconds, nanoseconds] }: ReadableSpan) => seconds * NANOSECONDS + nanoseconds;

/** Registers OpenTelemetry's own SDK. */
export function startTraces(): Traces {
  const exporter = new InMemorySpanExporter();
  const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  propagation.setGlobalPropagator(new W3CTraceContextPropagator());
  trace.setGlobalTracerProvider(provider);

  function treeOf(span: ReadableSpan): SpanTree {
    const within = exporter
      .getFinishedSpans()
      .filter((it) => it.parentSpanContext?.spanId === span.spanContext().spanId)
      .sort((a, b) => startOf(a) - startOf(b));
    return { span, children: within.map(treeOf) };
  }

  return {
    reset: () => exporter.reset(),
    all: () => exporter.getFinishedSpans(),
    async treeWith(name) {
      const find = () => exporter.getFinishedSpans().find((it) => it.name === name);
      await until(async () => find() !== undefined);
      return treeOf(find() as ReadableSpan);
    },
    async stop() {
      await provider.shutdown();
      for (const it of [trace, context, propagation]) it.disable();
    },
  };
}

/** The names of a tree, those within a span in a list behind it. */
export function namesOf({ span, children }: SpanTree): unknown {
  return children.length === 0 ? span.name : [span.name, ...children.map(namesOf)];
}

/** A tree for people: names, kinds, milliseconds. */
export function printTree({ span, children }: SpanTree, depth = 0): string {
  const [seconds, nanoseconds] = span.duration;
  const ms = (seconds * 1_000 + nanoseconds / 1e6).toFixed(1);
  const kind = span.kind === SpanKind.INTERNAL ? '' : ` (${SpanKind[span.kind]?.toLowerCase()})`;
  const about = Object.entries(span.attributes).map(([name, value]) => `${name}=${value}`);
  const line = `${'  '.repeat(depth)}${span.name}${kind} ${ms} ms  ${about.join(' ')}`.trimEnd();
  return [line, ...children.map((it) => printTree(it, depth + 1))].join('\n');
}
