import { request } from 'node:http';
import type { AddressInfo, Server } from 'node:net';
import express from 'express';
import { createFacilitator } from '../../../src/facilitator/create-facilitator.js';
import { createMetrics } from '../../../src/http/service/metrics.js';
import { requirePayment } from '../../../src/middleware/payment/require-payment.js';
import { paywall } from '../../../src/middleware/paywall/paywall.js';
import { requireTokenBalance } from '../../../src/middleware/wallet/require-token-balance.js';
import { readConfiguration } from '../../../src/server/configuration/configuration.js';
import { startServer } from '../../../src/server/start-server.js';
import { openTollFixture, type TollFixture } from '../../helpers/fixtures/toll-fixture.js';
import { type Figures, figuresOf, readFigures } from '../../helpers/http/figures.js';
import { until } from '../../helpers/until.js';

let fixture: TollFixture;
beforeAll(async () => {
  fixture = await openTollFixture();
});
afterAll(() => fixture.close());

const rowsIn = ({ text }: Figures) => text.split('\n').filter((line) => !line.startsWith('#')).length;
const textOf = async (metrics: ReturnType<typeof createMetrics>) => readFigures((await metrics.expose())!.text);

/** Sends a request by any method; answers when its response is over. */
function send(url: string, method: string): Promise<void> {
  return new Promise((resolve, reject) => {
    request(url, { method }, (res) => res.resume().once('close', resolve))
      .once('error', reject)
      .end();
  });
}

test('strangers who ask for whatever they like by any method add no rows to the figures', async () => {
  const settings = { PORT: '0', DATABASE_URL: 'memory:', LOG_LEVEL: 'silent', RATE_LIMIT_SCALE: '1000' };
  const server = await startServer(readConfiguration(settings));
  try {
    const paths = [
      '/',
      '/v1/',
      '/v1/a/b?c=',
      '/payments/pay_',
      '/api/v1/projects/',
      '/%00',
      '/demo/..%2f',
      '/.env',
      '/metrics?',
    ];
    const methods = ['GET', 'POST', 'PROPFIND', 'M-SEARCH', 'PURGE'];
    const round = async (name: string) => {
      for (const path of paths) for (const method of methods) await send(`${server.url}${path}${name}`, method);
    };
    await round('first');
    const before = await figuresOf(server.url);
    for (let n = 0; n < 20; n += 1) await round(`next-${n}`);
    const after = await figuresOf(server.url);
    expect(rowsIn(after)).toBeLessThanOrEqual(rowsIn(before) + 2);
    expect(after.text).not.toMatch(/first|next-|PROPFIND|PURGE|\.env/);
    expect(after.value('tollhouse_gate_requests_total', { project: 'unknown', outcome: 'refused' })).toBeGreaterThan(
      100,
    );
  } finally {
    await server.close();
  }
});

test('thousands of projects and routes are so many labels and no more', async () => {
  const facilitator = fixture.facilitatorWith({});
  const metrics = createMetrics(facilitator);
  await metrics.expose();
  for (let n = 0; n < 3_000; n += 1) {
    facilitator.observed!.tell('gate.request', {
      route: '/v1/:slug',
      project: `prj_${n}`,
      outcome: 'paid',
      seconds: 0.1,
    });
    facilitator.observed!.tell('gate.request', { route: `/route-${n}`, project: '', outcome: 'paid', seconds: 0.1 });
    facilitator.observed!.tell('upstream.call', { project: `prj_${n}`, seconds: 0.1, failure: 'error' });
  }
  const figures = await textOf(metrics);
  const labels = (name: string, label: string) => new Set(figures.rows(name).map((row) => row.labels[label]));
  const projects = labels('tollhouse_gate_requests_total', 'project');
  expect([projects.size, projects.has('prj_0'), projects.has('prj_2999'), projects.has('other')]).toEqual([
    101,
    true,
    false,
    true,
  ]);
  expect(labels('tollhouse_gate_requests_total', 'route').size).toBe(201);
  expect(labels('tollhouse_upstream_errors_total', 'project').size).toBeLessThanOrEqual(101);
  const counted = figures.rows('tollhouse_gate_requests_total').reduce((sum, { value }) => sum + value, 0);
  expect(counted).toBe(6_000);
});

test('a key of an RPC provider is in no figure, wherever in the address it stands', async () => {
  const { host } = new URL(fixture.sandbox.rpcUrl);
  const rpcUrl = `http://user-secret:pass-secret@${host}/path-secret?api-key=query-secret`;
  const { network } = fixture.sandbox;
  const facilitator = createFacilitator({ network, rpcUrl, keypair: fixture.feePayer });
  const metrics = createMetrics(facilitator);
  await metrics.expose();
  await facilitator.check();
  const figures = await textOf(metrics);
  expect(figures.rows('tollhouse_rpc_calls_total').map(({ labels }) => labels.endpoint)).toContain(host);
  expect(figures.text).not.toContain('secret');
  await facilitator.close();
});

describe('gates of an app of its own', () => {
  let server: Server;
  let url: string;
  let metrics: ReturnType<typeof createMetrics>;

  beforeAll(async () => {
    const facilitator = fixture.facilitatorWith({});
    metrics = createMetrics(facilitator);
    await metrics.expose();
    const options = { facilitator, price: '$0.01', payTo: fixture.payTo } as const;
    const app = express();
    app.get('/report/:id', requirePayment(options), (_req, res) => void res.end('paid'));
    app.use('/everything', requirePayment(options));
    app.use(paywall({ 'GET /files/*': '$0.02' }, { facilitator, payTo: fixture.payTo }));
    app.get(
      '/club',
      requireTokenBalance({ facilitator, mint: fixture.sandbox.tokens[0]!.mint, minBalance: 1 }),
      (_req, res) => void res.end('in'),
    );
    server = app.listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => new Promise((resolve) => server.close(resolve)));

  test('are counted without anything in front of them, by what stands in the code', async () => {
    const paths = ['/report/17', '/report/18', '/everything/of/mine', '/files/a/b', '/club'];
    for (const path of paths) await (await fetch(url + path)).text();
    const outcome = 'challenged';
    const count = (figures: Figures, route: string, of: string = outcome) =>
      figures.value('tollhouse_gate_requests_total', { route, project: '', outcome: of });
    await until(async () => count(await textOf(metrics), '/club', 'refused') === 1);
    const figures = await textOf(metrics);
    expect(count(figures, '/report/:id')).toBe(2);
    expect(count(figures, 'GET /files/*')).toBe(1);
    expect(count(figures, 'unmatched')).toBe(1);
    expect(figures.text).not.toMatch(/report\/17|of\/mine|files\/a/);
  });
});
