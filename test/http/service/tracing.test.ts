/**
 * Tracing is the whole process's: an SDK is looked for once a second, and found once.
 * @jest-environment node
 */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { requirePayment } from '../../../src/middleware/payment/require-payment.js';
import { isTraced } from '../../../src/telemetry/trace.js';
import { useGatewayFixture } from '../../helpers/fixtures/gateway-fixture.js';
import { namesOf, printTree, startTraces, type Traces } from '../../helpers/telemetry/traces.js';
import { signPayment } from '../../helpers/transactions/payments.js';
import { until } from '../../helpers/until.js';

const fixture = useGatewayFixture();
const CALLER = { trace: '4bf92f3577b34da6a3ce929d0e0e4736', span: '00f067aa0ba902b7' };
const TRACEPARENT = `00-${CALLER.trace}-${CALLER.span}-01`;
const SEND = ['tollhouse.settle', 'tollhouse.send', 'tollhouse.confirm'];

let traces: Traces;

beforeAll(async () => {
  traces = startTraces();
  // What was asked while the service started may have looked for an SDK in vain, and the next look is a second away.
  await until(async () => isTraced());
});
afterAll(() => traces.stop());
beforeEach(() => traces.reset());

/** Trees are printed where somebody wants to see them. */
function show(title: string, tree: Parameters<typeof printTree>[0]): void {
  if (process.env['PRINT_TRACES'] !== undefined) process.stdout.write(`\n${title}\n${printTree(tree)}\n`);
}

async function paidRoute(settle: 'before' | 'after') {
  const { facilitator, payTo, payer, serve, sandbox } = fixture();
  const gate = requirePayment({ facilitator, price: '$0.01', payTo, settle });
  const url = await serve((app) => {
    app.get('/paid', gate, (_req, res) => {
      trace.getTracer('seller').startSpan('query').end();
      res.send('paid for');
    });
  });
  const { v2 } = await signPayment({ payer, sandbox }, `${url}/paid`);
  traces.reset();
  return { url: `${url}/paid?secret=tea`, headers: v2 };
}

test('a paid request is one trace, from its claim to its delivery, the handler with its own spans in the middle', async () => {
  const { url, headers } = await paidRoute('after');
  expect((await fetch(url, { headers })).status).toBe(200);
  const tree = await traces.treeWith('tollhouse.payment');
  show('a paid request', tree);
  expect(namesOf(tree)).toEqual([
    'tollhouse.payment',
    'tollhouse.claim',
    'tollhouse.simulate',
    ['tollhouse.handler', 'query'],
    SEND,
    'tollhouse.deliver',
  ]);
  expect(tree.span.kind).toBe(SpanKind.SERVER);
  expect(tree.span.attributes).toMatchObject({ 'http.request.method': 'GET', 'http.response.status_code': 200 });
});

test('where the money is taken first, the handler comes after it', async () => {
  const { url, headers } = await paidRoute('before');
  expect((await fetch(url, { headers })).status).toBe(200);
  const tree = await traces.treeWith('tollhouse.payment');
  expect(namesOf(tree)).toEqual(['tollhouse.payment', 'tollhouse.claim', SEND, ['tollhouse.handler', 'query']]);
});

test('no span says a signature, a query, a key or a payment', async () => {
  const { url, headers } = await paidRoute('after');
  await fetch(url, { headers: { ...headers, authorization: 'Bearer secret-of-a-caller' } });
  const said = JSON.stringify(
    traces.all().map(({ attributes, name, events, status }) => [attributes, name, events, status]),
  );
  const [sent = ''] = Object.values(headers);
  for (const secret of ['secret=tea', 'secret-of-a-caller', sent]) expect(said).not.toContain(secret);
  expect(said).not.toMatch(/[1-9A-HJ-NP-Za-km-z]{80,}/);
});

test('a call of a project goes on with the trace of its caller, and the upstream with that of the call', async () => {
  const { client, key, project, upstream, pay } = fixture();
  const { header } = await pay();
  traces.reset();
  const sent = { ...key.headers, ...header, traceparent: TRACEPARENT, tracestate: 'shop=1' };
  const answer = await client.call(`${project.slug}?q=secret`, { headers: sent });
  expect([answer.status, answer.text]).toEqual([200, 'paid for']);
  const tree = await traces.treeWith('tollhouse.call');
  show('a call of a project', tree);
  const { span } = tree;
  expect([span.spanContext().traceId, span.parentSpanContext?.spanId]).toEqual([CALLER.trace, CALLER.span]);
  expect(span.attributes).toMatchObject({ 'tollhouse.project.slug': project.slug, 'http.response.status_code': 200 });
  const [request] = traces.all().filter(({ kind }) => kind === SpanKind.CLIENT);
  expect(request?.attributes).toMatchObject({ 'server.address': '127.0.0.1', 'http.response.status_code': 200 });
  const got = upstream.received.at(-1)?.headers;
  expect(got?.['traceparent']).toBe(`00-${CALLER.trace}-${request?.spanContext().spanId}-01`);
  expect(got?.['tracestate']).toBe('shop=1');
  expect(JSON.stringify(traces.all().map(({ attributes }) => attributes))).not.toContain('secret');
});

test('an upstream that breaks off is a failed span, by its code', async () => {
  const { client, key, project, upstream, pay } = fixture();
  const { header } = await pay();
  upstream.respond((res) => void res.destroy());
  expect((await client.call(project.slug, { headers: { ...key.headers, ...header } })).status).toBe(502);
  upstream.respond((res) => void res.end('paid for'));
  const { span } = await traces.treeWith('GET');
  expect(span.status.code).toBe(SpanStatusCode.ERROR);
  expect(span.attributes['error.type']).toBe('upstream_reset');
});

test('an instrumentation of HTTP clients adds no second traceparent to what the upstream gets', async () => {
  const { client, key, project, pay } = fixture();
  const seen: boolean[] = [];
  // As OpenTelemetry's own for undici begins its spans.
  const onRequest = () => {
    const span = trace.getTracer('undici').startSpan('of an instrumentation');
    seen.push(span.isRecording());
    span.end();
  };
  const { header } = await pay();
  subscribe('undici:request:create', onRequest);
  try {
    expect((await client.call(project.slug, { headers: { ...key.headers, ...header } })).status).toBe(200);
  } finally {
    unsubscribe('undici:request:create', onRequest);
  }
  expect(seen).toContain(false);
});

test('without an SDK requests are served as before, and the caller’s trace reaches the upstream as it came', async () => {
  await traces.stop();
  try {
    const { client, key, project, upstream, pay } = fixture();
    const { header } = await pay();
    const sent = { ...key.headers, ...header, traceparent: TRACEPARENT };
    expect((await client.call(project.slug, { headers: sent })).status).toBe(200);
    expect(upstream.received.at(-1)?.headers['traceparent']).toBe(TRACEPARENT);
  } finally {
    traces = startTraces();
  }
});
