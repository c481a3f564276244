import { createServer } from 'node:http';
import { inspectEnvironment, readConfiguration } from '../../../src/server/configuration/configuration.js';
import { type RunningServer, startServer } from '../../../src/server/start-server.js';
import { until } from '../../helpers/until.js';

const QUIET = { PORT: '0', DATABASE_URL: 'memory:', LOG_LEVEL: 'silent' };

describe('the port of METRICS_PORT', () => {
  let server: RunningServer;

  beforeAll(async () => {
    server = await startServer(readConfiguration({ ...QUIET, METRICS_PORT: '0' }));
  });
  afterAll(() => server.close());

  test('has figures and probes, on this machine only', async () => {
    expect(server.metricsUrl).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    await fetch(`${server.url}/demo`);
    const answers = await Promise.all(
      ['/metrics', '/readyz', '/livez', '/healthz'].map((path) => fetch(server.metricsUrl + path)),
    );
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect(await answers[0]?.text()).toMatch(/^tollhouse_http_requests_total\{.*route="\/demo".*\} 1$/m);
  });

  test('takes the figures from the public port, and leaves the probes there', async () => {
    const answers = await Promise.all(['/metrics', '/readyz', '/healthz'].map((path) => fetch(server.url + path)));
    expect(answers.map(({ status }) => status)).toEqual([404, 200, 200]);
    const document = (await (await fetch(`${server.url}/openapi.json`)).json()) as { paths: object };
    expect(Object.keys(document.paths)).not.toContain('/metrics');
    expect(Object.keys(document.paths)).toContain('/readyz');
  });

  test('has nothing else: what is sold and who signs in is on the public one', async () => {
    for (const path of ['/', '/demo', '/supported', '/api/v1/projects']) {
      const answer = await fetch(server.metricsUrl + path);
      expect([answer.status, await answer.json()]).toEqual([404, expect.objectContaining({ code: 'not_found' })]);
    }
    expect((await fetch(`${server.metricsUrl}/metrics`, { method: 'POST' })).status).toBe(405);
  });
});

test('without METRICS_PORT the figures are public, and there is no second port', async () => {
  const server = await startServer(readConfiguration(QUIET));
  expect([(await fetch(`${server.url}/metrics`)).status, server.metricsUrl]).toEqual([200, undefined]);
  await server.close();
});

test('the port is closed when the server has stopped', async () => {
  const server = await startServer(readConfiguration({ ...QUIET, METRICS_PORT: '0' }));
  expect(await isOpen(`${server.metricsUrl}/livez`)).toBe(true);
  await server.close();
  expect(await isOpen(`${server.metricsUrl}/livez`)).toBe(false);
});

test('a port that another program has fails the start, and leaves nothing open', async () => {
  const other = createServer().listen(0, '127.0.0.1');
  await until(() => other.address() !== null);
  const port = String(Reflect.get(Object(other.address()), 'port'));
  const starting = startServer(readConfiguration({ ...QUIET, METRICS_PORT: port }));
  await expect(starting).rejects.toMatchObject({ code: 'EADDRINUSE' });
  other.close();
});

test.each([
  [{ METRICS_PORT: '4020' }, 'METRICS_PORT must be another port than PORT, or --port'],
  [{ METRICS_PORT: '70000' }, 'METRICS_PORT must be a port number from 0 (a free one) to 65535, not "70000"'],
  [{ METRICS_PORT: 'many' }, 'METRICS_PORT must be a port number from 0 (a free one) to 65535, not "many"'],
  [{ METRICS_HOST: '0.0.0.0' }, 'METRICS_HOST says nothing without METRICS_PORT'],
])('a configuration of %j is refused', (env, fault) => {
  expect(inspectEnvironment(env).faults).toEqual([fault]);
});

async function isOpen(url: string): Promise<boolean> {
  return fetch(url).then(
    ({ status }) => status === 200,
    () => false,
  );
}
