import { once } from 'node:events';
import { type ClientRequest, request } from 'node:http';
import { readConfiguration } from '../../../src/server/configuration/configuration.js';
import { type RunningServer, startServer } from '../../../src/server/start-server.js';
import { connectGateway } from '../../helpers/fixtures/gateway-client.js';
import { type Figures, figuresOf } from '../../helpers/http/figures.js';
import type { ProofHeaders } from '../../helpers/http/sign-in.js';
import { type Receiver, startReceiver } from '../../helpers/http/webhook-receiver.js';
import { until } from '../../helpers/until.js';

const SETTINGS = { PORT: '0', DATABASE_URL: 'memory:', LOG_LEVEL: 'silent', RATE_LIMIT_SCALE: '1000' };

let server: RunningServer;
let upstream: Receiver;
let headers: ProofHeaders;

beforeEach(async () => {
  server = await startServer(readConfiguration(SETTINGS));
  upstream = await startReceiver();
  const client = await connectGateway(server.url);
  const owner = await client.signIn(await server.chain.sandbox!.createWallet({ usdc: '0' }));
  const routes = [{ path: '/*', free: true }];
  await client.project(owner, { slug: 'echo', visibility: 'listed', routes, upstream: { url: upstream.origin } });
  headers = (await client.key(owner)).headers;
});
afterEach(async () => {
  await server.close();
  await upstream.close();
});

/** Begins a call, whose body is ended by whoever asked for it. */
function begin(method: string): ClientRequest {
  const call = request(`${server.url}/v1/echo/say`, { method, headers });
  call.once('error', () => {});
  return call;
}

const outcome = (figures: Figures, is: string) =>
  figures.value('tollhouse_gate_requests_total', { project: 'echo', outcome: is });
const failures = (figures: Figures) => figures.rows('tollhouse_upstream_errors_total').length;

/** The figures, once a call has had an outcome. */
async function figuresWith(is: string): Promise<Figures> {
  let figures = await figuresOf(server.url);
  await until(async () => {
    figures = await figuresOf(server.url);
    return outcome(figures, is) === 1;
  });
  return figures;
}

test('a caller who hangs up before the upstream has said anything is no failure of the upstream', async () => {
  upstream.respond(() => {});
  const call = begin('GET').end();
  await until(() => upstream.received.length === 1);
  call.destroy();
  const figures = await figuresWith('aborted');
  expect(failures(figures)).toBe(0);
  expect(figures.value('tollhouse_upstream_calls_total', { project: 'echo' })).toBeUndefined();
});

test('nor is one who hangs up in the middle of the response, which has begun in its time', async () => {
  upstream.respond((res) => void res.write('the first half'));
  const call = begin('GET').end();
  const [response] = await once(call, 'response');
  response.on('error', () => {});
  await once(response, 'data');
  call.destroy();
  const figures = await figuresWith('aborted');
  await until(
    async () => (await figuresOf(server.url)).value('tollhouse_upstream_seconds_count', { project: 'echo' }) === 1,
  );
  expect(failures(figures)).toBe(0);
});

test('an upstream that breaks off has failed, and how long the caller took to send is not its time', async () => {
  upstream.respond((res) => void res.writeHead(200, { 'content-length': '10' }).write('half', () => res.destroy()));
  const call = begin('POST');
  call.write('a body that ');
  const begunAt = performance.now();
  await new Promise((resolve) => setTimeout(resolve, 500));
  const tookToSend = (performance.now() - begunAt) / 1_000;
  call.end('comes slowly');
  const [response] = await once(call, 'response');
  response.on('error', () => {}).resume();
  await until(async () => failures(await figuresOf(server.url)) === 1);
  const figures = await figuresOf(server.url);
  expect(figures.value('tollhouse_upstream_errors_total', { project: 'echo', kind: 'reset' })).toBe(1);
  const [all, its] = ['gate', 'upstream'].map(
    (of) => figures.value(`tollhouse_${of}_seconds_sum`, { project: 'echo' })!,
  );
  expect(all! - its!).toBeGreaterThan(tookToSend * 0.8);
});
