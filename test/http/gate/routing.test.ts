import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import type { Request, Response as ServerAnswer } from 'express';
import express5 from 'express';
import express4 from 'express4';
import { requirePayment } from '../../../src/middleware/payment/require-payment.js';
import { openTollFixture, type TollFixture } from '../../helpers/fixtures/toll-fixture.js';
import { askTerms, type PaymentHeaders, signPayment } from '../../helpers/transactions/payments.js';

const BOTH = [
  ['Express 5', express5],
  ['Express 4', express4],
] as const;

describe.each(BOTH)('where a gate may stand, %s', (_name, express) => {
  let fixture: TollFixture;
  let url: string;
  let served: string[] = [];

  const serve = (req: Request, res: ServerAnswer): void => {
    served.push(req.originalUrl);
    res.json({ url: req.originalUrl, body: req.body ?? null, payer: req.payment?.payer });
  };

  beforeAll(async () => {
    fixture = await openTollFixture();
    const { facilitator, payTo } = fixture;
    const gate = () => requirePayment({ facilitator, payTo, price: '$0.01' });
    url = await fixture.serve((app) => {
      const router = express.Router();
      router.get('/report', gate(), serve);
      router.get('/items/:id', gate(), serve);
      app.use('/api', router);
      app.use('/twin', router);

      const guarded = express.Router();
      guarded.use(gate());
      guarded.get('/a', serve);
      guarded.get('/b', serve);
      app.use('/guarded', guarded);

      app.use('/mounted', gate(), serve);
      app.post('/parsed', express.json(), gate(), serve);
      app.post('/raw', gate(), express.json(), serve);
      app.get('/gated', gate(), serve);
      app.get('/twice', gate(), gate(), serve);

      const strict = express.Router({ strict: true, caseSensitive: true });
      strict.get('/Exact', gate(), serve);
      app.use('/strict', strict);
    }, express);
  });
  afterAll(() => fixture.close());
  beforeEach(() => {
    served = [];
  });

  async function pay(path: string, init: RequestInit = {}): Promise<Response> {
    const { v2 } = await signPayment(fixture, `${url}${path}`, { init });
    return fetch(`${url}${path}`, { ...init, headers: { ...(init.headers as PaymentHeaders), ...v2 } });
  }

  test.each(['/api/report', '/api/items/7?x=1', '/guarded/a', '/mounted', '/mounted/deep/path', '/strict/Exact'])(
    '%s is asked for under its whole address, paid and served',
    async (path) => {
      const { resource } = await askTerms(`${url}${path}`);
      const answer = await pay(path);

      expect(resource.url).toBe(`${url}${path}`);
      expect(answer.status).toBe(200);
      expect(await answer.json()).toMatchObject({ url: path, payer: fixture.payer.publicKey.toBase58() });
      expect(served).toEqual([path]);
    },
  );

  test.each([
    ['/guarded/a', '/guarded/b'],
    ['/api/items/1', '/api/items/2'],
    ['/api/report', '/twin/report'],
    ['/mounted/a', '/mounted/b'],
  ])('a payment for %s is not good for %s', async (paidFor, other) => {
    const { v2 } = await signPayment(fixture, `${url}${paidFor}`);
    const first = await fetch(`${url}${paidFor}`, { headers: v2 });
    const second = await fetch(`${url}${other}`, { headers: v2 });

    expect([first.status, second.status]).toEqual([200, 402]);
    expect(served).toEqual([paidFor]);
  });

  test.each(['/parsed', '/raw'])(
    '%s: a body is there for the handler, and the payment is for the method',
    async (path) => {
      const init = { method: 'POST', body: '{"question":1}', headers: { 'content-type': 'application/json' } };
      const answer = await pay(path, init);

      expect(answer.status).toBe(200);
      expect(await answer.json()).toMatchObject({ body: { question: 1 } });
    },
  );

  test('a large body that the handler reads only after the gate is not lost', async () => {
    const text = 'x'.repeat(90_000);
    const init = { method: 'POST', body: JSON.stringify({ text }), headers: { 'content-type': 'application/json' } };
    const answer = await pay('/raw', init);

    expect(await answer.json()).toMatchObject({ body: { text } });
  });

  test.each([
    '//gated',
    '/gated/',
    '/GATED',
    '/%67ated',
    '/gated%2F',
    '/gated%5C',
    '/./gated',
    '/x/../gated',
    '/gated;a',
    '/gated//',
  ])('%s is never served without payment', async (spelling) => {
    const status = await statusOf(url, spelling);

    expect([402, 404]).toContain(status);
    expect(served).toEqual([]);
  });

  test('spellings that the router takes for the same route are paid for one by one', async () => {
    const { v2 } = await signPayment(fixture, `${url}/gated`);
    const answers = await Promise.all(
      ['/gated', '/gated/', '/GATED'].map((it) => fetch(`${url}${it}`, { headers: v2 })),
    );

    expect(answers.map(({ status }) => status).sort()).toEqual([200, 402, 402]);
    expect(served).toHaveLength(1);
  });

  test('the query is not part of what is bought: one answer all the same', async () => {
    const { v2 } = await signPayment(fixture, `${url}/gated?page=1`);
    const first = await fetch(`${url}/gated?page=1`, { headers: v2 });
    const second = await fetch(`${url}/gated?page=2`, { headers: v2 });

    expect([first.status, second.status]).toEqual([200, 402]);
    expect(served).toEqual(['/gated?page=1']);
  });

  test('two gates of a route that ask for the same are paid once', async () => {
    const answer = await pay('/twice');

    expect(answer.status).toBe(200);
    expect(served).toEqual(['/twice']);
  });
});

/** Status of a GET; `fetch` tidies addresses up, here the path goes out as it is. */
async function statusOf(url: string, path: string): Promise<number | undefined> {
  const { hostname, port } = new URL(url);
  const [answer] = (await once(request({ hostname, port, path, agent: false }).end(), 'response')) as [IncomingMessage];
  answer.resume();
  return answer.statusCode;
}
