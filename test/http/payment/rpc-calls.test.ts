import { request } from 'node:http';
import type { RequestHandler } from 'express';
import { requirePayment } from '../../../src/middleware/payment/require-payment.js';
import { openTollFixture, type TollFixture } from '../../helpers/fixtures/toll-fixture.js';
import {
  askTerms,
  createGate,
  encodeHeader,
  signPayment,
  withOtherFeePayerBytes,
} from '../../helpers/transactions/payments.js';
import { until } from '../../helpers/until.js';

describe('calls to the chain', () => {
  let fixture: TollFixture;
  let url: string;
  const [entered, gone] = [createGate(), createGate()];

  beforeAll(async () => {
    fixture = await openTollFixture();
    const plain = fixture.facilitatorWith({ blockhashHints: false });
    const hinting = fixture.facilitatorWith({ blockhashHints: true });
    const options = { payTo: fixture.payTo, price: '$0.01' };
    url = await fixture.serve((app) => {
      const gates = {
        after: requirePayment({ ...options, facilitator: plain }),
        before: requirePayment({ ...options, facilitator: plain, settle: 'before' }),
        pyusd: requirePayment({ ...options, facilitator: plain, price: '0.01 PYUSD' }),
        hinting: requirePayment({ ...options, facilitator: hinting }),
      };
      const watched: RequestHandler = (req, res, next) => {
        if (req.get('payment-signature') !== undefined) {
          entered.open();
          res.once('close', gone.open);
        }
        next();
      };
      app.post('/posted', watched, gates.after, (_req, res) => res.send('paid'));
      for (const [name, gate] of Object.entries(gates)) app.get(`/${name}`, gate, (_req, res) => res.send('paid'));
    });
  });
  afterAll(() => fixture.close());

  /** Calls per method, those not made left out. */
  function made(): Record<string, number> {
    return Object.fromEntries(Object.entries(fixture.sandbox.calls).filter(([, count]) => count > 0));
  }

  async function pay(path: string, times = 1): Promise<Record<string, number>> {
    const payments = await Promise.all(Array.from({ length: times }, () => signPayment(fixture, `${url}${path}`)));
    fixture.sandbox.resetCalls();
    const answers = await Promise.all(payments.map(({ v2 }) => fetch(`${url}${path}`, { headers: v2 })));
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    return made();
  }

  test('a request that does not pay makes none', async () => {
    fixture.sandbox.resetCalls();
    await Promise.all(Array.from({ length: 50 }, () => fetch(`${url}/after`)));
    expect(made()).toEqual({});
  });

  test('with hints, fifty requests that do not pay share one', async () => {
    fixture.sandbox.resetCalls();
    await Promise.all(Array.from({ length: 50 }, () => fetch(`${url}/hinting`)));
    await until(() => fixture.sandbox.calls.getLatestBlockhash === 1);
    let hint: unknown;
    while (hint === undefined)
      [hint] = (await askTerms(`${url}/hinting`)).accepts.map(({ extra }) => extra?.['recentBlockhash']);

    expect(made()).toEqual({ getLatestBlockhash: 1, total: 1 });
    expect(hint).toMatch(/^[1-9A-HJ-NP-Za-km-z]{32,44}$/);
  });

  test.each([
    ['no base64', '!!!'],
    ['no JSON', 'aGVsbG8='],
    ['no payment', encodeHeader({ x402Version: 2 })],
  ])('a header that is %s makes none', async (_what, value) => {
    fixture.sandbox.resetCalls();
    await fetch(`${url}/after`, { headers: { 'payment-signature': value } });
    expect(made()).toEqual({});
  });

  test('a payment for other terms makes none', async () => {
    const { v2 } = await signPayment(fixture, `${url}/after`, { change: { amount: '1' } });
    fixture.sandbox.resetCalls();
    const answer = await fetch(`${url}/after`, { headers: v2 });

    expect(answer.status).toBe(402);
    expect(made()).toEqual({});
  });

  test('a client that is gone in the middle of its body makes none, and its payment is good when it comes again', async () => {
    const init = { method: 'POST', body: 'all of it' };
    const { v2 } = await signPayment(fixture, `${url}/posted`, { init });
    fixture.sandbox.resetCalls();
    const sent = request(`${url}/posted`, { method: 'POST', headers: { ...v2, 'content-length': '9' }, agent: false });
    sent.on('error', () => undefined).write('all');
    await entered.opened;
    sent.destroy();
    await gone.opened;
    for (let times = 0; times < 3; times += 1) expect((await fetch(`${url}/posted`, init)).status).toBe(402);
    expect(made()).toEqual({});
    expect((await fetch(`${url}/posted`, { ...init, headers: v2 })).status).toBe(200);
  });

  test('a paid request makes one simulation, one send, one subscription', async () => {
    const { signatureUnsubscribe, ...calls } = await pay('/after');
    expect(calls).toEqual({ simulateTransaction: 1, sendTransaction: 1, signatureSubscribe: 1, total: 2 });
    expect(signatureUnsubscribe ?? 0).toBeLessThanOrEqual(1);
  });

  test("with settle: 'before' it makes one send and no simulation", async () => {
    const { signatureUnsubscribe, ...calls } = await pay('/before');
    expect(calls).toEqual({ sendTransaction: 1, signatureSubscribe: 1, total: 1 });
    expect(signatureUnsubscribe ?? 0).toBeLessThanOrEqual(1);
  });

  test('a Token-2022 mint is looked at once', async () => {
    const first = await pay('/pyusd');
    const second = await pay('/pyusd');

    expect(first).toMatchObject({ getMultipleAccounts: 1, simulateTransaction: 1, sendTransaction: 1 });
    expect(second['getMultipleAccounts']).toBeUndefined();
  });

  test('ten payments at once share what statuses they ask for', async () => {
    const { total = 0, getSignatureStatuses = 0, ...calls } = await pay('/after', 10);

    expect(calls).toMatchObject({ simulateTransaction: 10, sendTransaction: 10, signatureSubscribe: 10 });
    expect(getSignatureStatuses).toBeLessThanOrEqual(2);
    expect(total).toBe(20 + getSignatureStatuses);
  });

  test('copies of a payment make none, whatever stands in the slot of the fee payer', async () => {
    const payment = await signPayment(fixture, `${url}/after`);
    await fetch(`${url}/after`, { headers: payment.v2 });
    fixture.sandbox.resetCalls();
    const copies = [payment, withOtherFeePayerBytes(payment, 1), withOtherFeePayerBytes(payment, 2)];
    for (const { v1, v2 } of copies) {
      expect((await fetch(`${url}/after`, { headers: v2 })).headers.get('idempotency-replayed')).toBe('true');
      expect((await fetch(`${url}/after`, { headers: v1 })).status).toBe(402);
    }
    expect(made()).toEqual({});
  });
});
