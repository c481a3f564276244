import { randomUUID } from 'node:crypto';
import { TollhouseError } from '../../../src/errors/errors.js';
import { requirePayment } from '../../../src/middleware/payment/require-payment.js';
import { createMemoryIdempotencyStore } from '../../../src/storage/idempotency/memory-idempotency-store.js';
import { createMemoryLedger } from '../../../src/storage/ledger/memory-ledger.js';
import { openTollFixture, type TollFixture } from '../../helpers/fixtures/toll-fixture.js';
import { ledgerWith } from '../../helpers/storage/ledgers.js';
import { named, type PaymentHeaders, signPayment } from '../../helpers/transactions/payments.js';
import { until } from '../../helpers/until.js';

const PRICE = 10_000n;

describe('a store that fails beside a payment', () => {
  let fixture: TollFixture;
  let url: string;
  let runs = 0;
  let lookups = 0;
  /** What fails, once. */
  let failing: 'served' | 'begin' | 'put' | undefined;
  let received: bigint;

  beforeAll(async () => {
    fixture = await openTollFixture();
    const memory = createMemoryLedger();
    const ledger = ledgerWith(memory, { served: (...it) => failOnce('served', () => memory.served(...it)) });
    const kept = createMemoryIdempotencyStore();
    const idempotency = {
      ...kept,
      begin: (...it: Parameters<typeof kept.begin>) => failOnce('begin', () => kept.begin(...it)),
      put: (...it: Parameters<typeof kept.put>) => failOnce('put', () => kept.put(...it)),
      get(id: string) {
        lookups += 1;
        return kept.get(id);
      },
    };
    const gated = {
      facilitator: fixture.facilitatorWith({ ledger, idempotency }),
      payTo: fixture.payTo,
      price: '$0.01',
    };
    url = await fixture.serve((app) => {
      app.set('env', 'test');
      for (const settle of ['after', 'before'] as const) {
        app.get(`/${settle}`, requirePayment({ ...gated, settle }), (_req, res) => {
          runs += 1;
          res.send(`run ${runs}`);
        });
      }
    });
  });
  afterAll(() => fixture.close());
  beforeEach(() => {
    [runs, lookups, failing, received] = [0, 0, undefined, earned()];
  });

  const earned = () => fixture.sandbox.tokenBalance(fixture.payTo, fixture.facilitator.tokens[0]!.mint);
  const get = (path: string, headers: PaymentHeaders) => fetch(url + path, { headers });

  /** While its response is being kept it is said to be under way. */
  async function untilKnown(path: string, headers: PaymentHeaders): Promise<Response> {
    let answer = await get(path, headers);
    await until(async () => {
      if (answer.status === 409) answer = await get(path, headers);
      return answer.status !== 409;
    });
    return answer;
  }

  async function failOnce<T>(what: typeof failing, otherwise: () => Promise<T>): Promise<T> {
    if (failing !== what) return otherwise();
    failing = undefined;
    throw new TollhouseError('store_unavailable', 'The store is away.');
  }

  test.each(['/after', '/before'])(
    'as it notes that %s was served: the same payment brings the same response, and its handler runs once',
    async (path) => {
      const { v2 } = await signPayment(fixture, url + path);
      failing = 'served';
      await get(path, v2)
        .then((it) => it.text())
        .catch(() => undefined);
      await until(() => failing === undefined);
      const again = await get(path, v2);
      expect([again.status, await again.text()]).toEqual([200, 'run 1']);
      expect([runs, earned() - received]).toEqual([1, PRICE]);
    },
  );

  test.each(['/after', '/before'])(
    'as it takes the identifier of a payment for %s: 503, uncharged, and the same payment is served then',
    async (path) => {
      const headers = named(await signPayment(fixture, url + path), `pay_${randomUUID()}`);
      failing = 'begin';
      const failed = await get(path, headers);
      expect([failed.status, await failed.json()]).toMatchObject([503, { code: 'store_unavailable' }]);
      expect([runs, earned() - received]).toEqual([0, 0n]);
      const again = await get(path, headers);
      expect([again.status, await again.text()]).toEqual([200, 'run 1']);
      expect(earned() - received).toBe(PRICE);
    },
  );

  test('as it is to keep what the handler answered: 503, uncharged, and the same payment is served then', async () => {
    const { v2 } = await signPayment(fixture, `${url}/after`);
    failing = 'put';
    const failed = await get('/after', v2);
    expect([failed.status, await failed.json()]).toMatchObject([503, { code: 'store_unavailable' }]);
    expect(earned() - received).toBe(0n);
    const served = await get('/after', v2);
    const again = await get('/after', v2);
    expect([await served.text(), await again.text()]).toEqual(['run 2', 'run 2']);
    expect(earned() - received).toBe(PRICE);
  });

  test('as it is to keep what was paid before it was made: whoever lost it gets the same response, of one run', async () => {
    const { v2 } = await signPayment(fixture, `${url}/before`);
    failing = 'put';
    expect((await get('/before', v2)).status).toBe(200);
    const again = await untilKnown('/before', v2);
    expect([again.status, await again.text()]).toEqual([200, 'run 1']);
    expect([runs, earned() - received]).toEqual([1, PRICE]);
  });

  test('is not asked for a kept response by a payment that is new, nor by one that is not the asker’s', async () => {
    const { v2 } = await signPayment(fixture, `${url}/after`);
    expect((await get('/after', v2)).status).toBe(200);
    expect((await get('/after?other', v2)).status).toBe(402);
    expect(lookups).toBe(0);
    expect((await get('/after', v2)).status).toBe(200);
    expect(lookups).toBe(1);
  });
});
