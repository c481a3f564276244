import { randomUUID } from 'node:crypto';
import type { RequestHandler, Response } from 'express';
import { idempotency } from '../../../src/middleware/idempotency/idempotency.js';
import { requirePayment } from '../../../src/middleware/payment/require-payment.js';
import { createMemoryIdempotencyStore } from '../../../src/storage/idempotency/memory-idempotency-store.js';
import { EXPRESSES, openTollFixture, type TollFixture } from '../../helpers/fixtures/toll-fixture.js';
import { signPayment } from '../../helpers/transactions/payments.js';

/** Responses whose length is not that of the body that comes with them, and their twins. */
const KINDS: readonly [what: string, method: string, respond: (res: Response) => void][] = [
  ['to a HEAD, with the length that a GET would bring', 'HEAD', (res) => void res.set('Content-Length', '1234').end()],
  ['to a HEAD, whose body was written and did not leave', 'HEAD', (res) => void res.send('not sent')],
  ['to a HEAD, without a length', 'HEAD', (res) => void res.end()],
  ['that is a 304 with a length', 'POST', (res) => void res.status(304).set('Content-Length', '1234').end()],
  ['that is a 304 without', 'POST', (res) => void res.status(304).set('ETag', '"a"').end()],
  ['that is a 204', 'POST', (res) => void res.status(204).end()],
  ['that is empty', 'POST', (res) => void res.end()],
  ['that has a body', 'POST', (res) => void res.set('Content-Length', '4').end('four')],
];

describe.each(EXPRESSES)('a response that is had again, %s', (_name, express) => {
  let toll: TollFixture;
  let url: string;
  let respond: (res: Response) => void;
  let runs = 0;

  beforeAll(async () => {
    toll = await openTollFixture();
    const { facilitator, payTo } = toll;
    const handler: RequestHandler = (_req, res) => {
      runs += 1;
      respond(res);
    };
    url = await toll.serve((app) => {
      app.all('/after', requirePayment({ facilitator, payTo, price: '$0.01' }), handler);
      app.all('/before', requirePayment({ facilitator, payTo, price: '$0.01', settle: 'before' }), handler);
      app.all('/named', idempotency({ store: createMemoryIdempotencyStore() }), handler);
    }, express);
  });
  afterAll(() => toll.close());
  beforeEach(() => {
    runs = 0;
  });

  async function ask(path: string, method: string, headers: Readonly<Record<string, string>>) {
    const answer = await fetch(url + path, { method, headers });
    const length = answer.headers.get('content-length');
    return [answer.status, length, answer.headers.get('etag'), await answer.text()];
  }

  test.each(KINDS)('by its payment, has its length: %s', async (_what, method, answers) => {
    respond = answers;
    for (const path of ['/after', '/before']) {
      const { v2 } = await signPayment(toll, url + path, { init: { method } });
      const first = await ask(path, method, v2);
      expect(await ask(path, method, v2)).toEqual(first);
    }
    expect(runs).toBe(2);
  });

  test.each(KINDS.filter(([, method]) => method === 'POST'))(
    'by its Idempotency-Key, has its length: %s',
    async (_what, method, answers) => {
      respond = answers;
      const name = { 'idempotency-key': randomUUID() };
      const first = await ask('/named', method, name);
      expect(await ask('/named', method, name)).toEqual(first);
      expect(runs).toBe(1);
    },
  );
});
