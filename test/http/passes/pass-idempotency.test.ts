import type { Express } from 'express';
import { idempotency } from '../../../src/middleware/idempotency/idempotency.js';
import { requirePayment } from '../../../src/middleware/payment/require-payment.js';
import { createMemoryIdempotencyStore } from '../../../src/storage/idempotency/memory-idempotency-store.js';
import { openTollFixture, type TollFixture } from '../../helpers/fixtures/toll-fixture.js';
import { buyPass } from '../../helpers/http/passes.js';
import { type PaymentHeaders, signPayment } from '../../helpers/transactions/payments.js';

const POST = { method: 'POST' };

describe('requests under one Idempotency-Key that others can guess, behind a gate that sells passes', () => {
  let fixture: TollFixture;
  let url: string;
  let made: number;

  beforeAll(async () => {
    fixture = await openTollFixture();
    const { facilitator, payTo } = fixture;
    const gate = requirePayment({ facilitator, payTo, price: '$0.50', pass: { uses: 5 } });
    url = await fixture.serve((app: Express) => {
      app.post('/jobs', gate, idempotency({ store: createMemoryIdempotencyStore() }), (_req, res) => {
        made += 1;
        res.send(`job ${made}`);
      });
    });
  });
  afterAll(() => fixture.close());
  beforeEach(() => {
    made = 0;
  });

  const payer = async () => ({ sandbox: fixture.sandbox, payer: await fixture.sandbox.createWallet({ usdc: '2' }) });
  const post = async (name: string, shown: PaymentHeaders) =>
    (await fetch(`${url}/jobs`, { ...POST, headers: { ...shown, 'idempotency-key': name } })).text();

  test.each(['1', 'order-2026-11-26-0001'])('are of each payer alone, by the pass that he shows (%s)', async (name) => {
    const [alice, bob] = [await payer(), await payer()];
    const [hers, his] = [await buyPass(alice, `${url}/jobs`, POST), await buyPass(bob, `${url}/jobs`, POST)];
    expect([await post(name, hers.token), await post(name, his.token)]).toEqual(['job 3', 'job 4']);
    expect([await post(name, hers.token), await post(name, his.token)]).toEqual(['job 3', 'job 4']);
  });

  test('are of each payer alone, by the payment that he brings', async () => {
    const [alice, bob] = [await payer(), await payer()];
    const pay = async (wallet: typeof alice) =>
      post('2', (await signPayment(wallet, `${url}/jobs`, { init: POST })).v2);
    expect([await pay(alice), await pay(bob)]).toEqual(['job 1', 'job 2']);
    expect(await pay(alice)).toBe('job 1');
  });
});
