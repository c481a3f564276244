import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { Agent, request } from 'node:http';
import type { Socket } from 'node:net';
import { idempotency } from '../../../src/middleware/idempotency/idempotency.js';
import { requirePayment } from '../../../src/middleware/payment/require-payment.js';
import { createMemoryIdempotencyStore } from '../../../src/storage/idempotency/memory-idempotency-store.js';
import { EXPRESSES, openTollFixture, type TollFixture } from '../../helpers/fixtures/toll-fixture.js';
import { payingFetch } from '../../helpers/http/official-clients.js';
import { answersIn, collect, linesOf, openSocket, rawRequest } from '../../helpers/http/raw-http.js';
import { signPayment } from '../../helpers/transactions/payments.js';
import { until } from '../../helpers/until.js';

const MIB = 1024 * 1024;
/** Longer than what is compared of a body, and let run out. */
const LONG = Buffer.alloc(3 * MIB, 'x');
/** What is let run out. */
const LET_RUN_OUT = 10 * MIB;

type Headers = Readonly<Record<string, string>>;

describe.each(EXPRESSES)('a response to a body that has not been read whole, %s', (_name, express) => {
  let toll: TollFixture;
  let url: string;
  let agent: Agent;
  let sockets: Set<unknown>;

  beforeAll(async () => {
    toll = await openTollFixture();
    const { facilitator, payTo } = toll;
    const gate = requirePayment({ facilitator, payTo, price: '$0.01' });
    url = await toll.serve((app) => {
      app.post('/read', gate, async (req, res) => {
        const hash = createHash('sha256');
        for await (const chunk of req) hash.update(chunk);
        res.send(hash.digest('hex'));
      });
      app.post('/unread', gate, (_req, res) => void res.send('not looked at'));
      app.post('/behind', requirePayment({ facilitator, payTo, price: '$0.01', settle: 'before' }), (req, res) => {
        const slow = setInterval(() => req.resume(), 20);
        req.on('data', () => req.pause());
        req.on('end', () => clearInterval(slow)).on('end', () => seen.push('the end'));
        res.send('it is being read');
      });
      app.post('/named', idempotency({ store: createMemoryIdempotencyStore() }), (_req, res) => void res.send('done'));
      app.get('/free', (_req, res) => void res.send('free'));
    }, express);
  });
  afterAll(() => toll.close());

  const seen: string[] = [];
  beforeEach(() => {
    seen.length = 0;
    sockets = new Set();
    agent = new Agent({ keepAlive: true, maxSockets: 1 });
  });
  afterEach(() => agent.destroy());

  /** Asks on the one connection, as long as it is kept. */
  async function ask(method: string, path: string, headers: Headers = {}, body = Buffer.alloc(0)) {
    const length = method === 'GET' ? {} : { 'content-length': body.length };
    const asked = request(url + path, { method, agent, headers: { ...headers, ...length } });
    asked.on('socket', (it) => sockets.add(it)).end(body);
    const [response] = await once(asked, 'response');
    // A connection that is closed on a client that is sending is an error behind its response.
    asked.on('error', () => undefined);
    let text = '';
    for await (const chunk of response) text += chunk;
    return { status: response.statusCode, text, connection: response.headers.connection };
  }
  const pay = async (path: string) => (await signPayment(toll, url + path, { init: { method: 'POST' } })).v2;
  /** A payment that has bought something else. */
  const used = async () => {
    const payment = await pay('/read');
    await ask('POST', '/read', payment, Buffer.from('short'));
    return payment;
  };
  const onOneConnection = async () => {
    expect(await ask('GET', '/free')).toMatchObject({ status: 200, text: 'free' });
    expect(sockets.size).toBe(1);
  };

  test.each<[string, string, number, () => Promise<Headers> | Headers]>([
    ['tells the price', '/read', 402, () => ({})],
    ['cannot read a payment', '/read', 400, () => ({ 'payment-signature': 'bm8=' })],
    ['refuses a payment', '/read', 402, () => used()],
    ['refuses a body under an Idempotency-Key', '/named', 413, () => ({ 'idempotency-key': 'a-key-of-mine' })],
    ['is of a handler that does not look at the body', '/unread', 200, () => pay('/unread')],
  ])('leaves the connection usable where it %s', async (_what, path, status, headers) => {
    for (let times = 0; times < 2; times += 1) {
      expect(await ask('POST', path, await headers(), LONG)).toMatchObject({ status });
      await onOneConnection();
    }
  });

  test('leaves the connection usable where it refuses a payment that is used, and where it is had again', async () => {
    const payment = await pay('/read');
    const sha256 = createHash('sha256').update(LONG).digest('hex');
    expect(await ask('POST', '/read', payment, LONG)).toMatchObject({ status: 200, text: sha256 });
    expect(await ask('POST', '/read', payment, LONG)).toMatchObject({ status: 200, text: sha256 });
    await onOneConnection();
    expect(await ask('POST', '/read', payment, Buffer.alloc(3 * MIB, 'y'))).toMatchObject({ status: 402 });
    await onOneConnection();
  });

  test('leaves those their connection who put their next request behind the body at once', async () => {
    const { sandbox, payer } = toll;
    const official = await payingFetch({ wallet: payer, rpcUrl: sandbox.rpcUrl });
    const sha256 = createHash('sha256').update(LONG).digest('hex');
    for (let times = 0; times < 3; times += 1) {
      const response = await official(`${url}/read`, { method: 'POST', body: LONG });
      expect([response.status, await response.text()]).toEqual([200, sha256]);
    }
  });

  test('lets a handler read on behind it, at its own pace', async () => {
    expect(await ask('POST', '/behind', await pay('/behind'), LONG)).toMatchObject({ text: 'it is being read' });
    await until(() => seen.length > 0);
    await onOneConnection();
  });

  test('says that the connection ends where more is to come than is let run out', async () => {
    const refused = await ask('POST', '/read', await used(), Buffer.alloc(LET_RUN_OUT + 2 * MIB));
    expect(refused).toMatchObject({ status: 402, connection: 'close' });
    expect(await ask('GET', '/free')).toMatchObject({ status: 200, text: 'free' });
    expect(sockets.size).toBe(2);
  });

  /** Begins to send a body whose payment is refused. */
  async function begin(length: Headers) {
    const payment = await used();
    const socket = openSocket(url);
    const heard = collect(socket);
    socket.write(rawRequest('POST /read', linesOf({ ...payment, ...length })));
    return { socket, heard };
  }

  /** Sends until the connection is closed or all is sent; answers how many MiB. */
  async function send(socket: Socket, mib: number, piece: Buffer): Promise<number> {
    let sent = 0;
    const gone = once(socket, 'close');
    for (; sent < mib && !socket.destroyed; sent += 1) {
      if (!socket.write(piece)) await Promise.race([once(socket, 'drain'), gone]).catch(() => undefined);
    }
    return sent;
  }

  test('comes whole to a client that is still sending, whose connection is closed once it has sent all', async () => {
    const { socket, heard } = await begin({ 'Content-Length': String(LET_RUN_OUT + 1) });
    socket.allowHalfOpen = true;
    const ended = once(socket, 'end');
    expect(await send(socket, 2, Buffer.alloc(MIB))).toBe(2);
    await ended;
    expect(await send(socket, 8, Buffer.alloc(MIB))).toBe(8);
    socket.end('x');
    expect(answersIn(await heard)).toMatchObject([{ status: 402 }]);
  });

  test('is not followed by reading for ever', async () => {
    const chunk = Buffer.concat([Buffer.from('100000\r\n'), Buffer.alloc(MIB), Buffer.from('\r\n')]);
    for (const [length, piece, told] of [
      [{ 'Content-Length': String(1024 * MIB) }, Buffer.alloc(MIB), 'close'],
      [{ 'Transfer-Encoding': 'chunked' }, chunk, 'keep-alive'],
    ] as const) {
      const { socket, heard } = await begin(length);
      expect(await send(socket, 1024, piece)).toBeLessThan(200);
      const [response] = answersIn(await heard);
      expect([response?.status, response?.headers.get('connection')]).toEqual([402, told]);
    }
  });
});
