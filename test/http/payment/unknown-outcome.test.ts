import type { Facilitator } from '../../../src/facilitator/types.js';
import { requirePayment } from '../../../src/middleware/payment/require-payment.js';
import { DAILY_EXPRESSES, openTollFixture, QUICK, type TollFixture } from '../../helpers/fixtures/toll-fixture.js';
import { receiptOf, signPayment } from '../../helpers/transactions/payments.js';
import { until } from '../../helpers/until.js';

const USDC = '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU';

describe.each(DAILY_EXPRESSES)('a settlement whose outcome is not known in time, %s', (_name, express) => {
  let fixture: TollFixture;
  let url: string;
  let runs = 0;
  let balance: bigint;

  beforeAll(async () => {
    fixture = await openTollFixture({ maxBlockhashAgeBlocks: 600 });
    const hurried = fixture.facilitatorWith({ settleTimeoutMs: 150 }, QUICK);
    const patient = fixture.facilitatorWith({}, QUICK);
    const gate = (facilitator: Facilitator, settle: 'after' | 'before') =>
      requirePayment({ facilitator, payTo: fixture.payTo, price: '$0.01', settle });
    url = await fixture.serve((app) => {
      const routes = {
        after: gate(hurried, 'after'),
        before: gate(hurried, 'before'),
        patient: gate(patient, 'after'),
      };
      for (const [name, middleware] of Object.entries(routes)) {
        app.get(`/${name}`, middleware, (_req, res) => {
          runs += 1;
          res.set('X-Run', String(runs)).send(`answer ${runs}`);
        });
      }
    }, express);
  });
  afterAll(() => fixture.close());
  beforeEach(() => {
    runs = 0;
    balance = fixture.sandbox.tokenBalance(fixture.payer.publicKey.toBase58(), USDC);
  });
  afterEach(() => {
    fixture.sandbox.faults.clear();
    fixture.sandbox.resumeSlots();
  });

  const spent = (): bigint => balance - fixture.sandbox.tokenBalance(fixture.payer.publicKey.toBase58(), USDC);

  describe.each(['after', 'before'])('settle: %s', (settle) => {
    test('is 503 with the signature, when to come again, and nothing of the answer', async () => {
      const { v2 } = await signPayment(fixture, `${url}/${settle}`);
      fixture.sandbox.pauseSlots();
      const answer = await fetch(`${url}/${settle}`, { headers: v2 });
      const receipt = receiptOf(answer);

      expect(answer.status).toBe(503);
      expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
      expect(answer.headers.get('cache-control')).toBe('no-store');
      expect(answer.headers.get('x-run')).toBeNull();
      expect(answer.headers.get('access-control-expose-headers')).toContain('Retry-After');
      expect(receipt).toMatchObject({ success: false, errorReason: 'settlement_pending' });
      expect(receipt.transaction).toMatch(/^[1-9A-HJ-NP-Za-km-z]{86,88}$/);
      expect(answer.headers.get('x-payment-response')).toBeNull();
      const detail =
        'The payment was sent and its outcome is not known yet. Send the same payment again to learn it; do not pay anew.';
      expect(await answer.json()).toMatchObject({ code: 'settlement_pending', status: 503, retryable: true, detail });
      expect(runs).toBe(settle === 'after' ? 1 : 0);
    });

    test('the same payment again learns the outcome and is served: once, by one run of the handler', async () => {
      const { v2 } = await signPayment(fixture, `${url}/${settle}`);
      fixture.sandbox.pauseSlots();
      const unknown = await fetch(`${url}/${settle}`, { headers: v2 });
      const stillUnknown = await fetch(`${url}/${settle}`, { headers: v2 });
      fixture.sandbox.resumeSlots();
      let served = await fetch(`${url}/${settle}`, { headers: v2 });
      // A busy machine may not see in time that it has landed; clients come again.
      while (served.status === 503) served = await fetch(`${url}/${settle}`, { headers: v2 });
      const again = await fetch(`${url}/${settle}`, { headers: v2 });

      expect([unknown.status, stillUnknown.status, served.status, again.status]).toEqual([503, 503, 200, 200]);
      expect([await served.text(), await again.text()]).toEqual(['answer 1', 'answer 1']);
      expect(served.headers.get('x-run')).toBe('1');
      expect(receiptOf(again)).toEqual(receiptOf(served));
      expect(receiptOf(served)).toMatchObject({ success: true, transaction: receiptOf(unknown).transaction });
      expect(runs).toBe(1);
      expect(spent()).toBe(10_000n);
    });

    test('while it is unknown the payment is good for nothing else', async () => {
      const other = settle === 'after' ? 'before' : 'after';
      const { v2 } = await signPayment(fixture, `${url}/${settle}`);
      fixture.sandbox.pauseSlots();
      await fetch(`${url}/${settle}`, { headers: v2 });
      runs = 0;
      const elsewhere = await fetch(`${url}/${other}`, { headers: v2 });
      const other2 = await fetch(`${url}/${settle}?`, { method: 'HEAD', headers: v2 });

      expect([elsewhere.status, other2.status]).toEqual([402, 402]);
      expect(runs).toBe(0);
    });

    test('a transaction that never lands is 402 when its blockhash has expired, and nothing was paid', async () => {
      const { v2 } = await signPayment(fixture, `${url}/${settle}`);
      fixture.sandbox.faults.add({ kind: 'drop' });
      const unknown = await fetch(`${url}/${settle}`, { headers: v2 });
      let expired = unknown;
      while (expired.status === 503) {
        fixture.sandbox.expireBlockhashes();
        expired = await fetch(`${url}/${settle}`, { headers: v2 });
      }
      const again = await fetch(`${url}/${settle}`, { headers: v2 });

      expect(unknown.status).toBe(503);
      for (const answer of [expired, again]) {
        expect(answer.status).toBe(402);
        expect(await answer.json()).toMatchObject({ error: 'invalid_exact_svm_transaction_expired' });
      }
      expect(spent()).toBe(0n);
      expect(runs).toBe(settle === 'after' ? 1 : 0);
    });
  });

  test('an internal error of the endpoint says nothing about what became of the transaction', async () => {
    const error = { kind: 'error', code: -32_603, method: 'sendTransaction', takesEffect: true } as const;
    fixture.sandbox.faults.add({ ...error, times: 1 });
    const { v2 } = await signPayment(fixture, `${url}/patient`);
    const answer = await fetch(`${url}/patient`, { headers: v2 });

    expect(answer.status).toBe(200);
    expect(spent()).toBe(10_000n);
  });

  test('an endpoint that accepts subscriptions and never notifies changes nothing but the way', async () => {
    fixture.sandbox.faults.add({ kind: 'silent' });
    const { v2 } = await signPayment(fixture, `${url}/patient`);
    const answer = await fetch(`${url}/patient`, { headers: v2 });

    expect(answer.status).toBe(200);
    expect(runs).toBe(1);
  });

  test('a transaction that lands late is waited for', async () => {
    fixture.sandbox.faults.add({ kind: 'late', slots: 10, times: 1 });
    const { v2 } = await signPayment(fixture, `${url}/patient`);
    const answer = await fetch(`${url}/patient`, { headers: v2 });

    expect(answer.status).toBe(200);
    expect(spent()).toBe(10_000n);
  });

  test('a client that leaves while the money is on its way gets the answer with the same request, once', async () => {
    const { v2 } = await signPayment(fixture, `${url}/patient`);
    fixture.sandbox.resetCalls();
    fixture.sandbox.pauseSlots();
    const leaving = new AbortController();
    const request = fetch(`${url}/patient`, { headers: v2, signal: leaving.signal });
    await until(() => fixture.sandbox.calls.sendTransaction === 1);
    leaving.abort();
    await expect(request).rejects.toThrow();
    fixture.sandbox.resumeSlots();
    let answer = await fetch(`${url}/patient`, { headers: v2 });
    while (answer.status === 409) answer = await fetch(`${url}/patient`, { headers: v2 });
    const again = await fetch(`${url}/patient`, { headers: v2 });

    expect([answer.status, again.status]).toEqual([200, 200]);
    expect([await answer.text(), await again.text()]).toEqual(['answer 1', 'answer 1']);
    expect(runs).toBe(1);
    expect(spent()).toBe(10_000n);
    expect(fixture.sandbox.calls.sendTransaction).toBe(1);
  });
});
