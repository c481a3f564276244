import type { ServerResponse } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import type { RequestHandler } from 'express';
import { requirePayment } from '../../../src/middleware/payment/require-payment.js';
import { EXPRESSES, openTollFixture, type TollFixture } from '../../helpers/fixtures/toll-fixture.js';
import { compressing } from '../../helpers/http/compressing.js';
import { receiptOf, signPayment } from '../../helpers/transactions/payments.js';

type Method = (this: ServerResponse, ...args: unknown[]) => unknown;

/** Saves something before the response leaves, as `express-session` does: the head is written later, with a cookie. */
const saving: RequestHandler = (_req, res, next) => {
  const end: Method = res.end as Method;
  const writeHead: Method = res.writeHead as Method;
  Reflect.set(res, 'writeHead', (...args: unknown[]) => {
    res.setHeader('Set-Cookie', 'session=1');
    return writeHead.apply(res, args);
  });
  Reflect.set(res, 'end', (...args: unknown[]) => {
    void wait(5).then(() => end.apply(res, args));
    return res;
  });
  next();
};

describe.each(EXPRESSES)('middleware that changes answers, %s', (_name, express) => {
  let fixture: TollFixture;
  let url: string;
  const logged: (readonly [number, boolean])[] = [];

  beforeAll(async () => {
    fixture = await openTollFixture();
    const { facilitator, payTo } = fixture;
    const gates = {
      after: requirePayment({ facilitator, payTo, price: '$0.01', handlerTimeoutMs: 1000 }),
      before: requirePayment({ facilitator, payTo, price: '$0.01', settle: 'before' }),
    };
    const logging: RequestHandler = (_req, res, next) => {
      res.once('finish', () => logged.push([res.statusCode, res.headersSent]));
      next();
    };
    url = await fixture.serve((app) => {
      for (const [name, gate] of Object.entries(gates)) {
        const wrappers = { compressing, saving, logging };
        for (const [wrapper, middleware] of Object.entries(wrappers)) {
          for (const chain of [
            [middleware, gate],
            [gate, middleware],
          ]) {
            const position = chain[0] === gate ? 'behind' : 'front';
            app.get(`/${wrapper}/${position}/${name}/text`, ...chain, (_req, res) => res.send('a text '.repeat(1000)));
            app.get(`/${wrapper}/${position}/${name}/empty`, ...chain, (_req, res) => res.status(204).end());
            app.get(`/${wrapper}/${position}/${name}/error`, ...chain, (_req, res) => res.status(418).send('no'));
          }
        }
      }
    }, express);
  });
  afterAll(() => fixture.close());

  async function pay(path: string): Promise<Response> {
    const { v2 } = await signPayment(fixture, `${url}${path}`);
    return fetch(`${url}${path}`, { headers: v2 });
  }

  describe.each([
    ['front', 'after'],
    ['behind', 'after'],
    ['front', 'before'],
    ['behind', 'before'],
  ])('%s of the gate, settle: %s', (position, settle) => {
    test('compressed', async () => {
      const answer = await pay(`/compressing/${position}/${settle}/text`);

      expect(answer.status).toBe(200);
      expect(answer.headers.get('content-encoding')).toBe('gzip');
      expect(await answer.text()).toBe('a text '.repeat(1000));
      expect(receiptOf(answer).success).toBe(true);
      expect(answer.headers.get('cache-control')).toBe('private');
    });

    test('compressed, and once more', async () => {
      const path = `/compressing/${position}/${settle}/text`;
      const { v2 } = await signPayment(fixture, `${url}${path}`);
      await (await fetch(`${url}${path}`, { headers: v2 })).text();
      const again = await fetch(`${url}${path}`, { headers: v2 });

      expect([again.status, again.headers.get('idempotency-replayed')]).toEqual([200, 'true']);
      expect(again.headers.get('content-encoding')).toBe('gzip');
      expect(await again.text()).toBe('a text '.repeat(1000));
    });

    test.each([
      ['text', 200],
      ['empty', 204],
      ['error', 418],
    ])('saved before it leaves: %s', async (path, status) => {
      const answer = await pay(`/saving/${position}/${settle}/${path}`);

      expect(answer.status).toBe(status);
      expect(answer.headers.get('set-cookie')).toBe('session=1');
      expect(answer.headers.get('payment-response') !== null).toBe(status < 400 || settle === 'before');
    });

    test('logged with the status that the client sees', async () => {
      logged.length = 0;
      const answer = await pay(`/logging/${position}/${settle}/text`);
      await answer.text();
      const paid = logged.filter(([status]) => status === 200);

      expect(paid).toEqual([[200, true]]);
    });
  });
});
