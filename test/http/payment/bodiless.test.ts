import { randomUUID } from 'node:crypto';
import type { RequestHandler, Response } from 'express';
import { idempotency } from '../../../src/middleware/idempotency/idempotency.js';
import { requirePayment } from '../../../src/middleware/payment/require-payment.js';
import { createMemoryIdempotencyStore } from '../../../src/storage/idempotency/memory-idempotency-store.js';
import { EXPRESSES, openTollFixture, type TollFixture } from '../../helpers/fixtures/toll-fixture.js';
import { signPayment } from '../../helpers/transactions/payments.js';

/** Responses whose length is not that of the body that comes with them, and their twins. */
const KINDS: readonly [what: string, respond: (res: Response) => void][] = [
  ['that is a 304 with a length', (res) => void res.status(304).set('Content-Length', '1234').end()],
  ['that is a 304 without', (res) => void res.status(304).set('ETag', '"a"').end()],
  ['that is a 204', (res) => void res.status(204).end()],
  ['that is empty', (res) => void res.end()],
  ['that has a body', (res) => void res.set('Content-Length', '4').end('four')],
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

  async function ask(path: string, headers: Readonly<Record<string, string>>) {
    const answer = await fetch(url + path, { method: 'POST', headers });
    const length = answer.headers.get('content-length');
    return [answer.status, length, answer.headers.get('etag'), await answer.text()];
  }

  test.each(KINDS)('by its payment, has its length: %s', async (_what, answers) => {
    respond = answers;
    for (const path of ['/after', '/before']) {
      const { v2 } = await signPayment(toll, url + path, { init: { method: 'POST' } });
      const first = await ask(path, v2);
      expect(await ask(path, v2)).toEqual(first);
    }
    expect(runs).toBe(2);
  });

  test.each(KINDS)('by its Idempotency-Key, has its length: %s', async (_what, answers) => {
    respond = answers;
    const name = { 'idempotency-key': randomUUID() };
    const first = await ask('/named', name);
    expect(await ask('/named', name)).toEqual(first);
    expect(runs).toBe(1);
  });
});
