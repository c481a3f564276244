import type { Facilitator } from '../../../src/facilitator/types.js';
import { requirePayment } from '../../../src/middleware/payment/require-payment.js';
import { receiptOf, signPayment } from '../../helpers/payments.js';
import { DAILY_EXPRESSES, openTollStand, QUICK, type TollStand } from '../../helpers/toll-stand.js';
import { until } from '../../helpers/until.js';

const USDC = '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU';

describe.each(DAILY_EXPRESSES)('a settlement whose outcome is not known in time, %s', (_name, express) => {
  let stand: TollStand;
  let url: string;
  let runs = 0;
  let balance: bigint;

  beforeAll(async () => {
    stand = await openTollStand({ maxBlockhashAgeBlocks: 600 });
    const hurried = stand.facilitatorWith({ settleTimeoutMs: 150 }, QUICK);
    const patient = stand.facilitatorWith({}, QUICK);
    const gate = (facilitator: Facilitator, settle: 'after' | 'before') =>
      requirePayment({ facilitator, payTo: stand.payTo, price: '$0.01', settle });
    url = await stand.serve((app) => {
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
  afterAll(() => stand.close());
  beforeEach(() => {
    runs = 0;
    balance = stand.sandbox.tokenBalance(stand.payer.publicKey.toBase58(), USDC);
  });
  afterEach(() => {
    stand.sandbox.faults.clear();
    stand.sandbox.resumeSlots();
  });

  const spent = (): bigint => balance - stand.sandbox.tokenBalance(stand.payer.publicKey.toBase58(), USDC);

  describe.each(['after', 'before'])('settle: %s', (settle) => {
    test('is 503 with the signature, when to come again, and nothing of the answer', async () => {
      const { v2 } = await signPayment(stand, `${url}/${settle}`);
      stand.sandbox.pauseSlots();
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
      expect(await answer.json()).toMatchObject({ code: 'settlement_pending', status: 503, retryable: true });
      expect(runs).toBe(settle === 'after' ? 1 : 0);
    });

    test('the same payment again learns the outcome and is served: once, by one run of the handler', async () => {
      const { v2 } = await signPayment(stand, `${url}/${settle}`);
      stand.sandbox.pauseSlots();
      const unknown = await fetch(`${url}/${settle}`, { headers: v2 });
      const stillUnknown = await fetch(`${url}/${settle}`, { headers: v2 });
      stand.sandbox.resumeSlots();
      const served = await fetch(`${url}/${settle}`, { headers: v2 });
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
      const { v2 } = await signPayment(stand, `${url}/${settle}`);
      stand.sandbox.pauseSlots();
      await fetch(`${url}/${settle}`, { headers: v2 });
      runs = 0;
      const elsewhere = await fetch(`${url}/${other}`, { headers: v2 });
      const other2 = await fetch(`${url}/${settle}?`, { method: 'HEAD', headers: v2 });

      expect([elsewhere.status, other2.status]).toEqual([402, 402]);
      expect(runs).toBe(0);
    });

    test('a transaction that never lands is 402 when its blockhash has expired, and nothing was paid', async () => {
      const { v2 } = await signPayment(stand, `${url}/${settle}`);
      stand.sandbox.faults.add({ kind: 'drop' });
      const unknown = await fetch(`${url}/${settle}`, { headers: v2 });
      let expired = unknown;
      while (expired.status === 503) {
        stand.sandbox.expireBlockhashes();
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
    stand.sandbox.faults.add({ ...error, times: 1 });
    const { v2 } = await signPayment(stand, `${url}/patient`);
    const answer = await fetch(`${url}/patient`, { headers: v2 });

    expect(answer.status).toBe(200);
    expect(spent()).toBe(10_000n);
  });

  test('an endpoint that accepts subscriptions and never notifies changes nothing but the way', async () => {
    stand.sandbox.faults.add({ kind: 'silent' });
    const { v2 } = await signPayment(stand, `${url}/patient`);
    const answer = await fetch(`${url}/patient`, { headers: v2 });

    expect(answer.status).toBe(200);
    expect(runs).toBe(1);
  });

  test('a transaction that lands late is waited for', async () => {
    stand.sandbox.faults.add({ kind: 'late', slots: 10, times: 1 });
    const { v2 } = await signPayment(stand, `${url}/patient`);
    const answer = await fetch(`${url}/patient`, { headers: v2 });

    expect(answer.status).toBe(200);
    expect(spent()).toBe(10_000n);
  });

  test('a client that leaves while the money is on its way gets the answer with the same request, once', async () => {
    const { v2 } = await signPayment(stand, `${url}/patient`);
    stand.sandbox.resetCalls();
    stand.sandbox.pauseSlots();
    const leaving = new AbortController();
    const request = fetch(`${url}/patient`, { headers: v2, signal: leaving.signal });
    await until(() => stand.sandbox.calls.sendTransaction === 1);
    leaving.abort();
    await expect(request).rejects.toThrow();
    stand.sandbox.resumeSlots();
    let answer = await fetch(`${url}/patient`, { headers: v2 });
    while (answer.status === 409) answer = await fetch(`${url}/patient`, { headers: v2 });
    const again = await fetch(`${url}/patient`, { headers: v2 });

    expect([answer.status, again.status]).toEqual([200, 200]);
    expect([await answer.text(), await again.text()]).toEqual(['answer 1', 'answer 1']);
    expect(runs).toBe(1);
    expect(spent()).toBe(10_000n);
    expect(stand.sandbox.calls.sendTransaction).toBe(1);
  });
});
