import { connect, type Socket } from 'node:net';
import type { MadeProject } from '../../helpers/fixtures/gateway-client.js';
import { type Caller, useGatewayFixture } from '../../helpers/fixtures/gateway-fixture.js';
import { until } from '../../helpers/until.js';

const fixture = useGatewayFixture();
const CONCURRENT = 4;
/** What calls that cost nothing have of it, from the one address that all of these come from. */
const OF_ADDRESS = CONCURRENT / 4;
const FREE = { routes: [{ method: 'GET', path: '/health', free: true }] };
const sockets: Socket[] = [];

beforeEach(() => fixture().upstream.respond((res) => void res.end('weather')));
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
});

/** Sends the head of a call, and of its body one byte. */
async function beginCall({ slug }: MadeProject, path: string, { key }: Caller): Promise<void> {
  const { hostname, port } = new URL(fixture().client.url);
  const socket = connect(Number(port), hostname);
  sockets.push(socket);
  const shown = Object.entries(key.headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(
    `POST /v1/${slug}${path} HTTP/1.1\r\nHost: ${hostname}:${port}\r\n${shown.join('')}Content-Length: 100000\r\n\r\nx`,
  );
  await new Promise((resolve) => socket.once('connect', resolve));
}

/** Whether a call by a wallet that pays for it is served, also in the seconds in which slow calls have been seen by the service. */
async function pays(project: MadeProject): Promise<number> {
  const { pay, client } = fixture();
  const caller = await fixture().newCaller();
  const { header } = await pay({ project, caller });
  return (await client.call(`${project.slug}/today`, { headers: { ...caller.key.headers, ...header } })).status;
}

test.each([
  ['of a free route', { routes: [{ method: 'POST', path: '/health', free: true }] }],
  ['that its keys have for nothing', { free_calls: { count: 100, window: '24h' } }],
])('calls %s whose bodies do not come take no place from those that come after them', async (_what, more) => {
  const project = await fixture().newProject({ limits: { concurrent: CONCURRENT }, ...more });
  const callers = [await fixture().newCaller(), await fixture().newCaller()];
  for (const caller of callers) for (let n = 0; n < CONCURRENT; n += 1) await beginCall(project, '/health', caller);
  // What is answered now came after them.
  const whole = () =>
    fixture().client.call(`${project.slug}/health`, { method: 'POST', headers: callers[0]!.key.headers, body: 'x' });
  for (let n = 0; n < CONCURRENT; n += 1) expect((await whole()).status).toBe(200);
  expect(await pays(project)).toBe(200);
});

test('calls of a free route that its upstream does not answer leave half of its places to those who pay', async () => {
  const project = await fixture().newProject({ limits: { concurrent: CONCURRENT }, ...FREE });
  const before = fixture().hits();
  const held: (() => void)[] = [];
  fixture().upstream.respond((res) => void held.push(() => res.end('late')));
  const callers = [await fixture().newCaller(), await fixture().newCaller()];
  const ask = (caller: Caller) => fixture().client.call(`${project.slug}/health`, { headers: caller.key.headers });
  const asked = callers.flatMap((caller) => Array.from({ length: CONCURRENT }, () => ask(caller)));
  await until(async () => fixture().hits() - before === OF_ADDRESS);
  fixture().upstream.respond((res) => void res.end('weather'));
  expect(await pays(project)).toBe(200);
  for (const answer of held) answer();
  const statuses = (await Promise.all(asked)).map(({ status }) => status);
  expect(statuses.filter((status) => status === 200)).toHaveLength(OF_ADDRESS);
  expect(new Set(statuses)).toEqual(new Set([200, 429]));
});

test('free calls that come without end leave half of each second to those who pay', async () => {
  const project = await fixture().newProject({ limits: { per_second: 8 }, ...FREE });
  const callers = [await fixture().newCaller(), await fixture().newCaller(), await fixture().newCaller()];
  let isOver = false;
  const statuses = new Map<number, number>();
  const flood = callers.map(async ({ key }) => {
    while (!isOver) {
      const { status } = await fixture().client.call(`${project.slug}/health`, { headers: key.headers });
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    }
  });
  await until(async () => statuses.get(429) !== undefined);
  for (let n = 0; n < 3; n += 1) expect(await pays(project)).toBe(200);
  isOver = true;
  await Promise.all(flood);
  expect([...statuses.keys()].sort()).toEqual([200, 429]);
});
