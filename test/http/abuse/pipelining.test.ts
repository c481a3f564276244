import type { Request, Response as ServerAnswer } from 'express';
import { requirePayment } from '../../../src/middleware/payment/require-payment.js';
import { DAILY_EXPRESSES, openTollFixture, type TollFixture } from '../../helpers/fixtures/toll-fixture.js';
import { ask, exchange, linesOf, openSocket, rawRequest } from '../../helpers/http/raw-http.js';
import { signPayment } from '../../helpers/transactions/payments.js';
import { until } from '../../helpers/until.js';

const USDC = '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU';
const FLOOD = 300;
const PAYMENTS = 6;

describe.each(DAILY_EXPRESSES)('many requests on one connection, none waiting for the last, %s', (_name, express) => {
  let fixture: TollFixture;
  let url: string;
  let runs: string[] = [];

  const serve = (req: Request, res: ServerAnswer): void => {
    const id = String(req.get('x-request-id'));
    runs.push(id);
    // The later it came the sooner it is ready.
    setTimeout(() => res.set('X-Request-Id', id).send(id), Math.max(0, 50 - runs.length * 10));
  };

  beforeAll(async () => {
    fixture = await openTollFixture({ maxBlockhashAgeBlocks: 5_000 });
    const { facilitator, payTo } = fixture;
    const options = { facilitator, payTo, price: '$0.01', handlerTimeoutMs: 500 };
    url = await fixture.serve((app) => {
      app.use((req, res, next) => {
        res.set('X-Request-Id', req.get('x-request-id'));
        next();
      });
      app.get(['/report', '/other'], requirePayment(options), serve);
      app.get('/silent', () => undefined);
      app.get('/left', requirePayment({ ...options, handlerTimeoutMs: 60_000 }), async (req, res) => {
        runs.push('left');
        if (runs.length === 1) await new Promise((resolve) => req.socket.once('close', resolve));
        res.send('goods');
      });
      app.get('/first', requirePayment({ ...options, settle: 'before' }), serve);
    }, express);
  });
  afterAll(() => fixture.close());
  beforeEach(() => {
    runs = [];
  });

  const named = (path: string, id: number, lines: readonly string[] = []) =>
    rawRequest(`GET ${path}`, [`X-Request-Id: id-${id}`, ...lines]);
  const payments = () =>
    Promise.all(
      Array.from({ length: PAYMENTS }, async () => linesOf((await signPayment(fixture, `${url}/report`)).v2)),
    );

  test('a flood is answered in order, and each payment in it is served once', async () => {
    const paid = await payments();
    const requests = Array.from({ length: FLOOD }, (_, id) =>
      named(id % 2 === 0 ? '/report' : '/other', id, paid[id % 17]),
    );
    const answers = await exchange(url, [...requests, rawRequest('GET /nowhere', ['Connection: close'])].join(''));
    const [last, ...all] = answers.reverse();
    const good = all.filter(({ status }) => status === 200);
    const served = good.filter(({ headers }) => !headers.has('idempotency-replayed'));

    expect(last?.status).toBe(404);
    expect(all.reverse().map(({ headers }) => headers.get('x-request-id'))).toEqual(
      requests.map((_, id) => `id-${id}`),
    );
    expect(served.map(({ body }) => body).sort()).toEqual([...runs].sort());
    for (const { body } of good) expect(runs).toContain(body);
    expect([runs.length, new Set(runs.map((id) => Number(id.slice(3)) % 17)).size]).toEqual([PAYMENTS, PAYMENTS]);
    expect(all.filter(({ status }) => ![200, 402, 409].includes(status))).toEqual([]);
  });

  test.each(['/report', '/first'])(
    'who leaves before the turn of an answer from %s has come has not got it, and gets it later',
    async (path) => {
      const balance = () => fixture.sandbox.tokenBalance(fixture.payer.publicKey.toBase58(), USDC);
      const before = balance();
      const lines = linesOf((await signPayment(fixture, url + path)).v2);
      const socket = openSocket(url);
      socket.write(`${rawRequest('GET /silent')}${named(path, 1, lines)}`);
      await until(() => runs.length === 1);
      socket.destroy();
      const again = () => ask(url, `GET ${path}`, ['X-Request-Id: id-1', ...lines]);
      let answer = await again();
      for (; answer.status === 409; answer = await again());

      expect(answer).toMatchObject({ status: 200, body: 'id-1' });
      expect(await again()).toMatchObject({ status: 200, body: 'id-1' });
      // Who left before the money was taken has not paid, and the handler runs for the one who comes again.
      expect(runs.length).toBeLessThanOrEqual(path === '/report' ? 2 : 1);
      expect(before - balance()).toBe(10_000n);
    },
  );

  test.each([
    ['alone on its connection', ''],
    ['behind another on its connection', rawRequest('GET /silent')],
  ])('who leaves before the answer is there has not paid, %s', async (_where, before) => {
    const balance = () => fixture.sandbox.tokenBalance(fixture.payer.publicKey.toBase58(), USDC);
    const had = balance();
    const lines = linesOf((await signPayment(fixture, `${url}/left`)).v2);
    const socket = openSocket(url);
    socket.write(`${before}${named('/left', 1, lines)}`);
    await until(() => runs.length === 1);
    socket.resetAndDestroy();
    const again = () => ask(url, 'GET /left', lines);
    let answer = await again();
    for (; answer.status === 409; answer = await again());

    expect(answer).toMatchObject({ status: 200, body: 'goods' });
    expect(answer.headers.has('idempotency-replayed')).toBe(false);
    expect(runs).toHaveLength(2);
    expect(had - balance()).toBe(10_000n);
  });
});
