import { once } from 'node:events';
import { Agent, type IncomingMessage, request, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { readConfiguration } from '../../../src/server/configuration/configuration.js';
import { createFloodGuard, type FloodGuardOptions } from '../../../src/server/flood-guard/flood-guard.js';
import { createGracefulStop } from '../../../src/server/graceful-stop.js';
import { createHttpServer, listen } from '../../../src/server/http-server.js';
import { startServer } from '../../../src/server/start-server.js';
import { testClock } from '../../helpers/test-clock.js';
import { until } from '../../helpers/until.js';

/** The addresses of the one who floods and of somebody else; Linux has them without being set up. */
const [FLOODER, OTHER] = ['127.0.0.2', '127.0.0.3'];
const PER_SECOND = 10;
const BURST = 40;

interface Answer {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

const sockets: Socket[] = [];
const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  for (const close of closers.splice(0)) await close();
});

/** Asks from an address; undefined when the connection broke. */
function get(port: number, localAddress: string, agent?: Agent): Promise<Answer | undefined> {
  return new Promise((resolve) => {
    const sent = request({ port, host: '127.0.0.1', localAddress, agent, path: '/x' }, async (response) => {
      let body = '';
      for await (const chunk of response) body += String(chunk);
      resolve({ status: response.statusCode ?? 0, headers: response.headers, body });
    });
    sent.on('error', () => resolve(undefined)).end();
  });
}

/** Opens a connection and sends bytes; `text` is what has come back. */
async function open(port: number, localAddress: string, bytes = '') {
  const socket = connect({ port, host: '127.0.0.1', localAddress });
  sockets.push(socket);
  const got = { text: '', closed: false, socket };
  socket.on('data', (chunk) => {
    got.text += String(chunk);
  });
  socket.on('close', () => {
    got.closed = true;
  });
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  socket.write(bytes);
  return got;
}

const keptAlive = (): Agent => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  closers.push(async () => agent.destroy());
  return agent;
};

/** A guarded server whose time stands still. */
async function guarded(more: Partial<FloodGuardOptions> = {}) {
  const { now, advance } = testClock();
  const told: string[] = [];
  let handled = 0;
  const onFlood = (address: string): void => void told.push(address);
  const guard = createFloodGuard({ perSecond: PER_SECOND, onFlood, now, ...more });
  const fixture: { server?: Server } = {};
  const { stop } = createGracefulStop(() => fixture.server!);
  const server = createHttpServer(
    guard.requests((_request, response) => {
      handled += 1;
      response.end('served');
    }),
  );
  fixture.server = server;
  guard.connections(server);
  await listen(server, 0, '127.0.0.1');
  closers.push(async () => {
    server.closeAllConnections();
    if (server.listening) await stop();
  });
  const { port } = server.address() as AddressInfo;
  /** Uses up what an address may send. */
  const exhaust = async (address: string): Promise<void> => {
    const agent = keptAlive();
    for (let at = 0; at < BURST; at += 1) expect(await get(port, address, agent)).toMatchObject({ status: 200 });
  };
  return { port, advance, told, exhaust, stop, server, handled: () => handled };
}

const REQUEST = 'GET /x HTTP/1.1\r\nHost: x\r\n\r\n';

test('what is beyond the burst is turned away before the app, told once, and others notice nothing', async () => {
  const { port, exhaust, told, handled } = await guarded();
  const agent = keptAlive();
  for (let at = 0; at < BURST; at += 1) expect(await get(port, FLOODER, agent)).toMatchObject({ status: 200 });
  const refusal = await get(port, FLOODER, agent);
  expect(refusal).toMatchObject({
    status: 429,
    headers: {
      'content-type': 'application/problem+json',
      'retry-after': '1',
      connection: 'close',
      'cache-control': 'no-store',
      'access-control-allow-origin': '*',
    },
  });
  const problem = JSON.parse(refusal?.body ?? '');
  expect(problem).toMatchObject({ code: 'rate_limited', status: 429, retryable: true });
  expect(problem.request_id).toBe(refusal?.headers['x-request-id']);
  expect([handled(), told]).toEqual([BURST, [FLOODER]]);
  await exhaust(OTHER);
});

test('of many requests in one packet those beyond the burst get one refusal, and the connection closes', async () => {
  const { port, handled } = await guarded();
  const flood = await open(port, FLOODER, REQUEST.repeat(200));
  await until(() => flood.closed);
  expect(flood.text.split('HTTP/1.1 200').length - 1).toBe(BURST);
  expect(flood.text.split('HTTP/1.1 429').length - 1).toBe(1);
  expect(handled()).toBe(BURST);
});

test('connections of a flooder are not read until it has rested; then they are served', async () => {
  const { port, advance, exhaust, told, handled } = await guarded();
  await exhaust(FLOODER);
  const waiting = [await open(port, FLOODER, REQUEST), await open(port, FLOODER, REQUEST)];
  await exhaust(OTHER);
  expect(waiting.map(({ text, closed }) => [text, closed])).toEqual(Array(2).fill(['', false]));
  expect([handled(), told]).toEqual([2 * BURST, [FLOODER]]);

  await advance(1_500);
  await until(() => waiting.every(({ text }) => text.includes('served')));
  expect(await get(port, FLOODER)).toMatchObject({ status: 200 });
});

test('one that waits too long is closed', async () => {
  const { port, advance, exhaust } = await guarded();
  await exhaust(FLOODER);
  const waiting = await open(port, FLOODER, REQUEST);
  // It has reached the server before its time is over.
  await exhaust(OTHER);
  await advance(10_000);
  await until(() => waiting.closed);
  expect(waiting.text).toBe('');
});

test('connections that bring nothing, or nothing that is HTTP, count as requests', async () => {
  const { port, handled, told } = await guarded();
  for (let at = 0; at < BURST; at += 2) {
    await open(port, FLOODER);
    const garbage = await open(port, FLOODER, 'what is this\r\n\r\n');
    await until(() => garbage.closed);
    expect(garbage.text).toMatch(/^HTTP\/1.1 400/);
  }
  const late = await open(port, FLOODER, REQUEST);
  expect(await get(port, OTHER)).toMatchObject({ status: 200 });
  expect([handled(), told, late.text]).toEqual([1, [FLOODER], '']);
});

test('an address has so many connections and no more, until some are closed', async () => {
  const { port } = await guarded({ maxConnections: 3 });
  const held = [await open(port, FLOODER), await open(port, FLOODER), await open(port, FLOODER)];
  expect(await get(port, FLOODER)).toBeUndefined();
  expect(await get(port, OTHER)).toMatchObject({ status: 200 });
  held[0]?.socket.destroy();
  await until(async () => (await get(port, FLOODER))?.status === 200);
});

test('a stop does not wait for connections that are not read', async () => {
  const { port, exhaust, stop, server } = await guarded();
  await exhaust(FLOODER);
  const waiting = await open(port, FLOODER, REQUEST);
  await exhaust(OTHER);
  await stop();
  await until(() => waiting.closed);
  expect(server.listening).toBe(false);
});

describe('the server', () => {
  async function start(env: Readonly<Record<string, string>>) {
    const settings = { PORT: '0', DATABASE_URL: 'memory:', LOG_LEVEL: 'warn', RATE_LIMIT_SCALE: '1', ...env };
    const log: string[] = [];
    const server = await startServer(readConfiguration(settings), { write: (line) => log.push(line) });
    closers.push(() => server.close());
    return { port: Number(new URL(server.url).port), log };
  }

  test('serves five hundred requests of one address in a moment, whatever they come to', async () => {
    const { port, log } = await start({});
    const agent = new Agent({ keepAlive: true, maxSockets: 50 });
    const answers = await Promise.all(Array.from({ length: 500 }, () => get(port, FLOODER, agent)));
    agent.destroy();
    expect(answers.filter((it) => it?.headers['ratelimit-policy'] === undefined)).toEqual([]);
    expect(log.join('')).not.toContain('flood');
  });

  test('holds floods off, tells of them, and can be told not to', async () => {
    const { port, log } = await start({ FLOOD_LIMIT_PER_SECOND: '5' });
    const begun = performance.now();
    const flood = await open(port, FLOODER, REQUEST.repeat(100));
    await until(() => flood.closed);
    // A busy machine takes so long for them that the address has earned some more.
    const earned = ((performance.now() - begun) / 1_000) * 5;
    const answered = flood.text.split('HTTP/1.1 404').length - 1;
    expect([answered >= 20, answered <= 20 + earned]).toEqual([true, true]);
    // Beside it the server may tell that something else on this machine has the port of its sandbox.
    const told = log.map((line) => JSON.parse(line)).filter(({ msg }) => /flood/.test(msg));
    expect(told).toEqual([expect.objectContaining({ msg: 'a flood of requests is held off', address: FLOODER })]);
  });

  test.each([{ FLOOD_LIMIT_PER_SECOND: '0' }, { FLOOD_LIMIT_PER_SECOND: '5', TRUST_PROXY: '1' }])(
    '%j: nothing is held off',
    async (env) => {
      const { port } = await start(env);
      const many = await open(port, FLOODER, REQUEST.repeat(60));
      await until(() => many.text.split('HTTP/1.1 404').length - 1 === 60);
    },
  );
});
