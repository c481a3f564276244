import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Express, Request, Response as ServerAnswer } from 'express';
import { createRouter } from '../../../src/http/create-router.js';
import { requirePayment } from '../../../src/middleware/payment/require-payment.js';
import { createHttpServer, listen } from '../../../src/server/http-server.js';
import { DAILY_EXPRESSES, openTollFixture, type TollFixture } from '../../helpers/fixtures/toll-fixture.js';
import { answersIn, ask, collect, linesOf, openSocket, rawRequest } from '../../helpers/http/raw-http.js';
import { signPayment } from '../../helpers/transactions/payments.js';
import { until } from '../../helpers/until.js';

const MIB = 1024 * 1024;
/** More than the sockets of a connection hold. */
const LARGE = Buffer.alloc(24 * MIB, 'x');
const DRIP_MS = 20;

test('the server has a limit for everything that a client can be slow with', async () => {
  const { headersTimeout, requestTimeout, keepAliveTimeout, timeout } = createHttpServer(() => undefined);
  expect([headersTimeout, requestTimeout, keepAliveTimeout, timeout]).toEqual([10_000, 60_000, 65_000, 300_000]);
});

/** Sends bytes again and again until the connection is gone. */
function drip(socket: Socket, bytes: string): void {
  const timer = setInterval(() => socket.write(bytes), DRIP_MS);
  socket.once('close', () => clearInterval(timer));
}

describe.each(DAILY_EXPRESSES)('slow clients, %s', (_name, express) => {
  let fixture: TollFixture;
  let server: Server;
  let url: string;
  let runs = 0;

  const serve = (req: Request, res: ServerAnswer): void => {
    runs += 1;
    res.json(req.body ?? null);
  };

  beforeAll(async () => {
    fixture = await openTollFixture({ maxBlockhashAgeBlocks: 5_000 });
    const { facilitator, payTo } = fixture;
    const options = { facilitator, payTo, price: '$0.01' };
    const app: Express = express();
    app.get('/report', requirePayment(options), serve);
    app.post('/report', requirePayment(options), express.json(), serve);
    app.get('/large', requirePayment({ ...options, maxHeldBytes: 2 * LARGE.length }), (_req, res) => {
      runs += 1;
      res.send(LARGE);
    });
    const hurried = { ...options, maxHeldBytes: 2 * LARGE.length, deliveryTimeoutMs: 100 };
    app.get('/hurried', requirePayment(hurried), (_req, res) => {
      runs += 1;
      res.send(LARGE);
    });
    app.use(createRouter({ facilitator, limits: false }));
    server = createHttpServer(app);
    await listen(server, 0, '127.0.0.1');
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(async () => {
    server.closeAllConnections();
    await once(server.close(), 'close');
    await fixture.close();
  });
  beforeEach(() => {
    runs = 0;
    fixture.sandbox.resetCalls();
    Object.assign(server, { headersTimeout: 10_000, requestTimeout: 60_000, timeout: 300_000 });
  });

  const payFor = async (path: string, init: RequestInit = {}): Promise<string[]> =>
    linesOf((await signPayment(fixture, url + path, { init })).v2);
  const codesIn = (heard: string): unknown[] => answersIn(heard).map(({ body }) => JSON.parse(body).code);

  test('headers that never end are cut off, and meanwhile others are served', async () => {
    Object.assign(server, { headersTimeout: 100 });
    const sockets = Array.from({ length: 30 }, () => openSocket(url));
    const heard = sockets.map(collect);
    for (const socket of sockets) {
      socket.write('GET /report HTTP/1.1\r\nHost: x\r\n');
      drip(socket, 'X-A: b\r\n');
    }
    const { status } = await ask(url, 'GET /report', await payFor('/report'));

    expect([status, runs]).toEqual([200, 1]);
    for (const told of await Promise.all(heard)) expect(codesIn(told)).toEqual(['request_timeout']);
  });

  test.each([
    ['of a length', 'Content-Length: 1000', '{"a":', '1'],
    ['in chunks', 'Transfer-Encoding: chunked', '5\r\n{"a":\r\n', '1\r\n1\r\n'],
  ])(
    'a body %s that never ends is cut off: nothing was charged, and the payment stays good',
    async (_what, field, start, more) => {
      const lines = await payFor('/report', { method: 'POST' });
      const json = ['Content-Type: application/json', ...lines];
      Object.assign(server, { headersTimeout: 100, requestTimeout: 200 });
      const socket = openSocket(url);
      const heard = collect(socket);
      socket.write(rawRequest('POST /report', [...json, field], start));
      drip(socket, more);

      expect(await heard).toContain('"code":"request_timeout"');
      expect(runs).toBe(0);
      expect(fixture.sandbox.calls.sendTransaction).toBe(0);
      const again = () => ask(url, 'POST /report', [...json, 'Content-Length: 7'], '{"a":1}');
      let answer = await again();
      for (; answer.status === 409; answer = await again());
      expect(answer).toMatchObject({ status: 200, body: '{"a":1}' });
      expect(runs).toBe(1);
    },
  );

  test.each(['/settle', '/create-payment', '/token-gate/check-access'])(
    'chunks without end for %s are cut off before their time is over',
    async (path) => {
      const socket = openSocket(url);
      const heard = collect(socket);
      socket.write(rawRequest(`POST ${path}`, ['Content-Type: application/json', 'Transfer-Encoding: chunked']));
      const piece = `4000\r\n${' '.repeat(0x4000)}\r\n`;
      let sent = 0;
      const more = (): void => {
        while (!socket.destroyed && socket.write(piece)) sent += piece.length;
      };
      socket.on('drain', more);
      more();

      await heard;
      // 32 MiB, and what fits into the buffers of two sockets.
      expect(sent).toBeLessThan(64 * MIB);
    },
  );

  test('an answer that is not read is given up; who paid for it can come again', async () => {
    const lines = await payFor('/large');
    const socket = openSocket(url).pause();
    socket.write(rawRequest('GET /large', lines));
    const [served] = (await once(server, 'connection')) as [Socket];
    await until(() => served.bytesWritten > 0);
    // What the server's own limit does, had it been as short when the connection was made.
    served.setTimeout(200);
    await once(served, 'close');
    socket.destroy();
    const again = () => ask(url, 'GET /large', lines);
    let answer = await again();
    for (; answer.status === 409; answer = await again());

    expect([answer.status, answer.body.length, runs]).toEqual([200, LARGE.length, 1]);
    expect(fixture.sandbox.calls.sendTransaction).toBe(1);
    expect(await again()).toMatchObject({ status: 200, body: answer.body });
    expect(runs).toBe(1);
  });

  test('a response that is not read in the time that its seller gives is cut off; who paid for it can come again', async () => {
    const lines = await payFor('/hurried');
    const socket = openSocket(url).pause();
    socket.write(rawRequest('GET /hurried', lines));
    const [served] = (await once(server, 'connection')) as [Socket];
    await once(served, 'close');
    socket.destroy();

    expect(await ask(url, 'GET /hurried', lines)).toMatchObject({ status: 200, body: String(LARGE) });
    expect([runs, fixture.sandbox.calls.sendTransaction]).toEqual([1, 1]);
  });
});
