import type { ErrorRequestHandler, RequestHandler, Response as ServerAnswer } from 'express';
import { idempotency } from '../../../src/middleware/idempotency/idempotency.js';
import { requirePayment } from '../../../src/middleware/payment/require-payment.js';
import { createMemoryIdempotencyStore } from '../../../src/storage/idempotency/memory-idempotency-store.js';
import { openStorage } from '../../../src/storage/open-storage.js';
import { DAILY_EXPRESSES, openTollFixture, type TollFixture } from '../../helpers/fixtures/toll-fixture.js';
import { type PaymentHeaders, signPayment } from '../../helpers/transactions/payments.js';

type Answer = (res: ServerAnswer) => unknown;

const PRICE = 10_000n;
const CREDIT = '0.01 USDC was not charged for this request, and pays the next one';

/** What Node sends in no way. */
const UNSENDABLE: readonly (readonly [string, Answer])[] = [
  ['a status message that is not latin', (res) => Object.assign(res, { statusMessage: 'найдено' }).send('it')],
  ['a status message of two lines', (res) => Object.assign(res, { statusMessage: 'a\nb' }).send('it')],
  ['such a message by writeHead', (res) => res.writeHead(200, 'Grüß € dich').end('it')],
  ['a status of 0', (res) => Object.assign(res, { statusCode: 0 }).end('it')],
  ['a negative status', (res) => Object.assign(res, { statusCode: -1 }).end('it')],
  ['a status of 99 by writeHead', (res) => res.writeHead(99).end('it')],
  ['a status of 1000', (res) => Object.assign(res, { statusCode: 1000 }).end('it')],
  ['the code of an error as its status', (res) => Object.assign(res, { statusCode: 'ECONNREFUSED' }).end('it')],
  ['a number as its body', (res) => Reflect.apply(res.end, res, [5])],
  ['an object as a piece of it', (res) => Reflect.apply(res.write, res, [{ a: 1 }])],
];

describe.each(DAILY_EXPRESSES)('a response that cannot be sent as its handler has it, %s', (_name, express) => {
  let fixture: TollFixture;
  let url: string;
  let answer: Answer;
  let runs = 0;
  let received = 0n;

  beforeAll(async () => {
    fixture = await openTollFixture();
    const facilitator = fixture.facilitatorWith({ storage: await openStorage('memory:') });
    const gated = { facilitator, payTo: fixture.payTo, price: '$0.01' } as const;
    const failing: RequestHandler = (req, res, next) => {
      if (req.query['front'] === undefined || runs > 0) return next();
      const { end } = res;
      // A log in front that fails once the response has gone.
      res.end = ((...args: unknown[]) => {
        Reflect.apply(end, res, args);
        throw new Error('the log is full');
      }) as typeof end;
      next();
    };
    const handle: RequestHandler = (_req, res) => {
      runs += 1;
      return runs === 1 ? answer(res) : res.send(`run ${runs}`);
    };
    const tell: ErrorRequestHandler = (error, _req, res, next) => {
      if (res.headersSent) return next(error);
      res.statusMessage = '';
      res.status(500).json({ error: 'internal' });
    };
    url = await fixture.serve((app) => {
      app.set('env', 'test');
      app.use(failing);
      app.get('/after', requirePayment(gated), handle);
      app.get('/before', requirePayment({ ...gated, settle: 'before' }), handle);
      app.get('/free', idempotency({ store: createMemoryIdempotencyStore() }), handle);
      app.use(tell);
    }, express);
  });
  afterAll(() => fixture.close());
  beforeEach(() => {
    [runs, received] = [0, balance()];
  });

  const balance = () => fixture.sandbox.tokenBalance(fixture.payTo, fixture.facilitator.tokens[0]!.mint);
  const earned = () => balance() - received;

  async function get(path: string, headers: PaymentHeaders) {
    const response = await fetch(url + path, { headers });
    for (; response.status === 409; ) return get(path, headers);
    return { status: response.status, text: await response.text(), credit: response.headers.get('access-credit') };
  }

  describe.each(UNSENDABLE)('%s', (_what, given) => {
    beforeEach(() => {
      answer = given;
    });

    test('is an error to its app before anything is charged, and the payment stays good', async () => {
      const { v2 } = await signPayment(fixture, `${url}/after`);
      expect(await get('/after', v2)).toEqual({ status: 500, text: '{"error":"internal"}', credit: null });
      expect(earned()).toBe(0n);
      expect(await get('/after', v2)).toMatchObject({ status: 200, text: 'run 2' });
      expect(earned()).toBe(PRICE);
    });

    test('is an error to its app once its money has landed, and leaves that to its payer, who is told', async () => {
      const { v2 } = await signPayment(fixture, `${url}/before`);
      expect(await get('/before', v2)).toEqual({ status: 500, text: '{"error":"internal"}', credit: CREDIT });
      expect(await get('/before', v2)).toMatchObject({ status: 200, text: 'run 2' });
      expect(earned()).toBe(PRICE);
    });

    test('is an error to its app under an idempotency key, which is free again', async () => {
      const key = { 'idempotency-key': `key ${Math.random()}` };
      expect(await get('/free', key)).toMatchObject({ status: 500, text: '{"error":"internal"}' });
      expect(await get('/free', key)).toMatchObject({ status: 200, text: 'run 2' });
    });
  });

  describe.each(['/after', '/before'])('at %s', (path) => {
    test('a log in front that throws once all has gone loses nobody a response', async () => {
      answer = (res) => res.send('it');
      const warned = jest.spyOn(process, 'emitWarning').mockImplementation();
      const { v2 } = await signPayment(fixture, `${url}${path}?front`);
      await get(`${path}?front`, v2).catch(() => undefined);
      const again = await get(`${path}?front`, v2);
      warned.mockRestore();
      expect([again.status, again.text, runs, earned()]).toEqual([200, 'it', 1, PRICE]);
    });

    test('a length that is not that of its body cuts one response off, which its payer gets again', async () => {
      answer = (res) => Object.assign(res.set('content-length', '7'), { strictContentLength: true }).end('it');
      const warned = jest.spyOn(process, 'emitWarning').mockImplementation();
      const { v2 } = await signPayment(fixture, url + path);
      await get(path, v2).catch(() => undefined);
      warned.mockRestore();
      const again = await get(path, v2);
      expect([again.status, again.text, earned()]).toEqual([200, 'it', PRICE]);
    });
  });

  describe('a handler that forgets to return, and answers a second time,', () => {
    beforeEach(() => {
      answer = (res) => {
        res.status(404).json({ error: 'no such report' });
        res.status(200).json({ report: null });
      };
    });

    test('has answered with the first, which is not charged', async () => {
      const { v2 } = await signPayment(fixture, `${url}/after`);
      expect(await get('/after', v2)).toEqual({ status: 404, text: '{"error":"no such report"}', credit: null });
      expect(earned()).toBe(0n);
    });

    test('has answered with the first, which leaves the money to its payer', async () => {
      const { v2 } = await signPayment(fixture, `${url}/before`);
      expect(await get('/before', v2)).toEqual({ status: 404, text: '{"error":"no such report"}', credit: CREDIT });
      expect(await get('/before', v2)).toMatchObject({ status: 200, text: 'run 2' });
      expect(earned()).toBe(PRICE);
    });
  });

  test.each(['/after', '/before'])('a handler that throws after its response has sold it, at %s', async (path) => {
    answer = (res) => {
      res.json({ goods: 1 });
      throw new Error('too late');
    };
    const { v2 } = await signPayment(fixture, url + path);
    expect(await get(path, v2)).toMatchObject({ status: 200, text: '{"goods":1}' });
    expect(await get(path, v2)).toMatchObject({ status: 200, text: '{"goods":1}' });
    expect([earned(), runs]).toEqual([PRICE, 1]);
  });
});
