import { once } from 'node:events';
import type { RequestListener, Server } from 'node:http';
import type { Socket } from 'node:net';
import type { UnreadBounds } from '../../../src/lib/http/unread-responses.js';
import { createHttpServer, listen, urlOf } from '../../../src/server/http-server.js';
import { answersIn, ask, collect, openSocket, rawRequest } from '../../helpers/http/raw-http.js';
import { until } from '../../helpers/until.js';

const MIB = 1024 * 1024;
/** More than the sockets of a connection hold. */
const LARGE = Buffer.alloc(24 * MIB, 'x');
const BURST = 50;

const servers: Server[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    await once(server.close(), 'close');
  }
});

/** A server that answers `/large` with much and everything else with its path, and notes what has reached it. */
async function open({ handle, ...bounds }: UnreadBounds & { readonly handle?: RequestListener } = {}) {
  const runs: string[] = [];
  const sockets: Socket[] = [];
  const server = createHttpServer((req, res) => {
    runs.push(String(req.url));
    if (handle !== undefined) return handle(req, res);
    res.end(req.url?.startsWith('/large') ? LARGE : req.url);
  }, bounds);
  servers.push(server);
  server.on('connection', (socket) => sockets.push(socket));
  await listen(server, 0, '127.0.0.1');
  return { url: urlOf(server), server, runs, sockets };
}

const burst = (path: string, count: number): string =>
  Array.from({ length: count }, (_, at) => rawRequest(`GET ${path}${at}`)).join('');

test('of many requests on a connection that reads nothing one is answered, and others are served meanwhile', async () => {
  const { url, runs } = await open();
  const socket = openSocket(url).pause();
  socket.write(burst('/large', BURST));
  await until(() => runs.length > 0);
  for (const path of ['/one', '/two']) expect(await ask(url, `GET ${path}`)).toMatchObject({ status: 200, body: path });

  expect(runs).toEqual(['/large0', '/one', '/two']);
  socket.destroy();
});

test('who reads gets the answers to all of them, in their order', async () => {
  const { url, runs } = await open();
  const paths = Array.from({ length: BURST }, (_, at) => `/small${at}`);
  const socket = openSocket(url);
  const heard = collect(socket);
  socket.write(`${burst('/small', BURST)}${rawRequest('GET /last', ['Connection: close'])}`);

  expect(answersIn(await heard).map(({ body }) => body)).toEqual([...paths, '/last']);
  expect(runs).toEqual([...paths, '/last']);
});

test('a request with a body that waits for its turn has all of that then', async () => {
  const { url } = await open({
    handle(req, res) {
      let bytes = 0;
      req.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
      });
      req.on('end', () => setImmediate(() => res.end(String(bytes))));
    },
  });
  const post = (size: number, ...more: string[]): string =>
    rawRequest('POST /', [`Content-Length: ${size}`, ...more], 'x'.repeat(size));
  const sizes = [10, MIB, 0, 3 * MIB, ...Array.from({ length: BURST }, () => 1), MIB];
  const socket = openSocket(url);
  const heard = collect(socket);
  socket.write(sizes.map((it) => post(it)).join('') + post(5, 'Connection: close'));
  expect(answersIn(await heard).map(({ body }) => Number(body))).toEqual([...sizes, 5]);
});

test('of requests without end no more is read than a few, until the first is answered', async () => {
  let answer = (): void => undefined;
  const { url, runs, sockets } = await open({
    handle(req, res) {
      if (runs.length === 1) answer = () => res.end();
      else res.end(req.url);
    },
  });
  const socket = openSocket(url);
  const bytes = burst(`/${'x'.repeat(400)}`, 10_000);
  socket.write(bytes + rawRequest('GET /last', ['Connection: close']));
  await until(() => runs.length > 0);
  for (const path of ['/one', '/two']) expect(await ask(url, `GET ${path}`)).toMatchObject({ body: path });

  expect(runs.slice(1)).toEqual(['/one', '/two']);
  expect(sockets[0]?.bytesRead).toBeLessThan(MIB / 2);
  expect(bytes.length).toBeGreaterThan(3 * MIB);
  const heard = collect(socket);
  answer();
  expect((await heard).endsWith('/last')).toBe(true);
  expect(runs.length).toBe(10_003);
});

test('a request whose client goes before its turn is not made', async () => {
  let answer = (): void => undefined;
  const { url, runs, sockets } = await open({
    handle(req, res) {
      if (req.url === '/0') answer = () => res.end();
      else res.end(req.url);
    },
  });
  const socket = openSocket(url);
  socket.write(burst('/', 3));
  await until(() => runs.length > 0);
  socket.destroy();
  await until(() => sockets[0]?.destroyed === true);
  answer();
  await ask(url, 'GET /other');
  expect(runs).toEqual(['/0', '/other']);
});

test('where too much is unread altogether those go that have not read for the longest', async () => {
  const { url, runs, sockets } = await open({ maxBytes: 3 * LARGE.length + MIB });
  const clients: Socket[] = [];
  for (let count = 1; count <= 5; count += 1) {
    const client = openSocket(url).pause();
    clients.push(client);
    client.write(rawRequest('GET /large', ['Connection: close']));
    await until(() => runs.length === count);
  }
  expect(sockets.map(({ destroyed }) => destroyed)).toEqual([true, true, false, false, false]);
  for (const client of clients.slice(2)) {
    const [answer] = answersIn(await collect(client.resume()));
    expect(answer?.body.length).toBe(LARGE.length);
  }
  // What was read or cut off counts no more.
  const answers = await Promise.all(Array.from({ length: 3 }, () => ask(url, 'GET /large')));
  expect(answers.map(({ body }) => body.length)).toEqual([LARGE.length, LARGE.length, LARGE.length]);
});

test('who takes nothing of a response for too long is cut off', async () => {
  const { url, sockets } = await open({ timeoutMs: 100 });
  const idle = openSocket(url).pause();
  idle.write(rawRequest('GET /large'));
  await until(() => sockets[0]?.destroyed === true);
});

test('what comes behind a response that was read has its own time', async () => {
  const times: (number | undefined)[] = [];
  const { url } = await open({
    handle(req, res) {
      times.push(req.socket.timeout);
      res.end(LARGE);
    },
  });
  const reader = openSocket(url);
  const heard = collect(reader);
  reader.write(burst('/large', 2) + rawRequest('GET /large', ['Connection: close']));
  expect(answersIn(await heard).map(({ body }) => body.length)).toEqual([LARGE.length, LARGE.length, LARGE.length]);
  expect(times).toEqual([300_000, 300_000, 300_000]);
});
