import type { Express } from 'express';
import { idempotency } from '../../../src/middleware/idempotency/idempotency.js';
import { requirePayment } from '../../../src/middleware/payment/require-payment.js';
import { createMemoryIdempotencyStore } from '../../../src/storage/idempotency/memory-idempotency-store.js';
import { openTollFixture, type TollFixture } from '../../helpers/fixtures/toll-fixture.js';
import { signPayment } from '../../helpers/transactions/payments.js';

const MAX_BYTES = 100_000;
const WALLETS = 60;
const LONG = 'x'.repeat(10_000);

describe('where many wallets fill the room for kept responses with what nobody has paid for', () => {
  let fixture: TollFixture;
  let url: string;
  let runs = 0;

  beforeAll(async () => {
    fixture = await openTollFixture({ maxBlockhashAgeBlocks: 10_000 });
    const store = createMemoryIdempotencyStore({ maxBytes: MAX_BYTES });
    const facilitator = fixture.facilitatorWith({ idempotency: store });
    url = await fixture.serve((app) => routes(app, { facilitator, payTo: fixture.payTo, price: '$0.01' }));

    function routes(app: Express, gated: Parameters<typeof requirePayment>[0]): void {
      const named = idempotency({ store, scopeOf: (req) => req.get('x-wallet') });
      app.post('/free', named, (_req, res) => void res.send(LONG));
      app.post(['/paid', '/named'], named, requirePayment(gated), (_req, res) => {
        runs += 1;
        res.send(`run ${runs} ${LONG}`);
      });
    }
  });
  afterAll(() => fixture.close());
  beforeEach(() => {
    runs = 0;
  });

  const post = (path: string, headers: Readonly<Record<string, string>>) =>
    fetch(url + path, { method: 'POST', headers });

  async function fill(): Promise<void> {
    for (let n = 0; n < WALLETS; n += 1) {
      const named = { 'x-wallet': `wallet ${n}`, 'idempotency-key': `of-its-own-${n}` };
      expect((await post('/free', named)).status).toBe(200);
    }
  }

  test('what was paid for is had again by its payment', async () => {
    const { v2 } = await signPayment(fixture, `${url}/paid`, { init: { method: 'POST' } });
    expect(await (await post('/paid', v2)).text()).toMatch(/^run 1 /);
    await fill();
    expect(await (await post('/paid', v2)).text()).toMatch(/^run 1 /);
  });

  test('what was paid for under an Idempotency-Key is had again by that, and not paid twice', async () => {
    const { v2 } = await signPayment(fixture, `${url}/named`, { init: { method: 'POST' } });
    const named = { 'x-wallet': 'payer', 'idempotency-key': 'bought-once' };
    expect(await (await post('/named', { ...v2, ...named })).text()).toMatch(/^run 1 /);
    await fill();
    expect(await (await post('/named', named)).text()).toMatch(/^run 1 /);
    const unpaid = { 'x-wallet': 'wallet 0', 'idempotency-key': 'of-its-own-0' };
    expect((await post('/free', unpaid)).headers.get('idempotency-replayed')).toBeNull();
  });
});
