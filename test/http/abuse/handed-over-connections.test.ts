import { once } from 'node:events';
import { Server } from 'node:http';
import type { Express, Request, Response } from 'express';
import { requirePayment } from '../../../src/middleware/payment/require-payment.js';
import { moneyFirst, openTollFixture, type TollFixture } from '../../helpers/fixtures/toll-fixture.js';
import { linesOf, openSocket, rawRequest } from '../../helpers/http/raw-http.js';
import { type PaymentHeaders, signPayment } from '../../helpers/transactions/payments.js';

/** More than there is paid for in any test. */
const MOST_RUNS = 5;

const CONNECT = rawRequest('CONNECT a:1');
const upgradeTo = (path: string) => rawRequest(`GET ${path}`, ['Connection: Upgrade', 'Upgrade: websocket']);
const BREAKING = rawRequest('GET /breaks-the-connection');

describe('a client that has read a stream and has its connection cut', () => {
  let fixture: TollFixture;
  /** The same app: Node cuts what asks to be connected. In one somebody listens for upgrades as well, and does so too. */
  let plain: string;
  let upgrading: string;
  let runs = 0;
  /** Whether handlers end their responses. */
  let isWhole = false;

  beforeAll(async () => {
    fixture = await openTollFixture();
    plain = await fixture.serve(routes);
    upgrading = await fixture.serve((app) => {
      app.use((req, _res, next) => {
        const server: unknown = Reflect.get(req.socket, 'server');
        if (server instanceof Server && server.listenerCount('upgrade') === 0) {
          server.on(
            'upgrade',
            (asked, socket) => void (asked.url === '/late' ? setTimeout(cut, 50, socket) : cut(socket)),
          );
          server.on('connect', (_asked, socket) => cut(socket));
        }
        next();
      });
      routes(app);
    });
  });
  afterAll(() => fixture.close());
  beforeEach(() => {
    runs = 0;
    isWhole = false;
  });

  const cut = (socket: { destroy(): void }) => void socket.destroy();

  function routes(app: Express): void {
    const gated = moneyFirst(fixture);
    const breaks: Readonly<Record<string, (req: Request, res: Response) => void>> = {
      response: (_req, res) => void res.destroy(),
      request: (req) => void req.destroy(),
      connection: (req) => void req.socket.destroy(),
    };
    const stream = (req: Request, res: Response): void => {
      runs += 1;
      if (isWhole || runs > MOST_RUNS) return void res.end(`whole ${runs}`);
      res.write('first word, last word');
      const act = breaks[String(req.query['breaks'])];
      if (act === undefined) return;
      isWhole = true;
      setImmediate(act, req, res);
    };
    app.get('/once', requirePayment(gated), stream);
    app.get('/uses', requirePayment({ ...gated, price: '$0.10', pass: { uses: 3 } }), stream);
    app.get('/credit', requirePayment({ ...gated, price: '$0.10', pass: { credit: true, cost: '$0.05' } }), stream);
    app.get('/throws', requirePayment(gated), (req, res, next) => {
      stream(req, res);
      if (!isWhole) setImmediate(() => next(new Error('the goods are out')));
      isWhole = true;
    });
    app.get('/breaks-the-connection', (req) => void req.socket.destroy());
  }

  /** Reads the stream to its last word, then writes that on the same connection. */
  async function readAndWrite(url: string, path: string, headers: PaymentHeaders, then: string): Promise<string> {
    const socket = openSocket(url);
    let read = '';
    socket.on('data', (chunk: Buffer) => {
      const had = read.includes('last word');
      read += chunk.toString('latin1');
      if (!had && read.includes('last word')) socket.write(then);
      if (read.startsWith('HTTP/1.1 402') || read.includes('whole')) socket.end();
    });
    socket.write(rawRequest(`GET ${path}`, linesOf(headers)));
    await once(socket, 'close');
    return read;
  }

  const moneyOf = (seller: string) =>
    fixture.sandbox.tokenBalance(seller, '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU');

  async function ask(url: string, headers: PaymentHeaders) {
    for (;;) {
      const answer = await fetch(url, { headers });
      const text = await answer.text();
      if (answer.status !== 409) return { answer, text };
    }
  }

  describe.each<[string, () => string, string]>([
    ['asks to be connected', () => plain, CONNECT],
    ['asks to be connected where somebody listens for that', () => upgrading, CONNECT],
    ['asks for an upgrade that is refused', () => upgrading, upgradeTo('/now')],
    ['asks for an upgrade that is refused later', () => upgrading, upgradeTo('/late')],
    ['asks a second time, at a route that breaks connections off', () => plain, BREAKING],
  ])('because it %s', (_what, urlOf, then) => {
    test('has had it for its payment', async () => {
      const url = urlOf();
      const before = moneyOf(fixture.payTo);
      const { v2 } = await signPayment(fixture, `${url}/once`);
      expect(await readAndWrite(url, '/once', v2, then)).toContain('last word');
      isWhole = true;
      const { answer, text } = await ask(`${url}/once`, v2);
      expect([answer.status, JSON.parse(text).code]).toEqual([402, 'payment_already_used']);
      expect([runs, moneyOf(fixture.payTo) - before]).toEqual([1, 10_000n]);
    });

    test.each([
      ['two uses', '/uses', 2],
      ['credit for one', '/credit', 1],
    ])('has had it for %s of what it has bought', async (_bought, path, times) => {
      const url = urlOf();
      const before = moneyOf(fixture.payTo);
      const { v2 } = await signPayment(fixture, url + path);
      isWhole = true;
      const paid = await fetch(url + path, { headers: v2 });
      await paid.text();
      isWhole = false;
      const token = { 'access-pass': paid.headers.get('access-pass') ?? '' };
      runs = 0;
      let read: string;
      do read = await readAndWrite(url, path, token, then);
      while (!read.startsWith('HTTP/1.1 402') && !read.includes('whole'));
      expect([runs, moneyOf(fixture.payTo) - before]).toEqual([times, 100_000n]);
    });
  });

  describe('is served again by the server that broke its stream off', () => {
    test.each([
      ['by destroying its response', '/once?breaks=response'],
      ['by destroying its request', '/once?breaks=request'],
      ['by destroying its connection', '/once?breaks=connection'],
      ['with an error', '/throws'],
    ])('%s', async (_what, path) => {
      const before = moneyOf(fixture.payTo);
      const { v2 } = await signPayment(fixture, plain + path);
      await readAndWrite(plain, path, v2, '');
      expect(await ask(plain + path, v2)).toMatchObject({ text: 'whole 2' });
      expect([runs, moneyOf(fixture.payTo) - before]).toEqual([2, 10_000n]);
    });
  });
});
