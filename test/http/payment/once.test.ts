import { decodePaymentResponseHeader } from '@x402/core/http';
import { requirePayment } from '../../../src/middleware/payment/require-payment.js';
import { DAILY_EXPRESSES, openTollFixture, type TollFixture } from '../../helpers/fixtures/toll-fixture.js';
import {
  createGate,
  receiptOf,
  signPayment,
  stolenFrom,
  withOtherFeePayerBytes,
} from '../../helpers/transactions/payments.js';

const USDC = '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU';
const PRICE = 10_000n;

describe.each(DAILY_EXPRESSES)('one payment is good for one answer, %s', (_name, express) => {
  let fixture: TollFixture;
  let url: string;
  let served: string[] = [];
  let balance: bigint;
  const slow = { entered: createGate(), leave: createGate() };

  const spent = (): bigint => balance - fixture.sandbox.tokenBalance(fixture.payer.publicKey.toBase58(), USDC);

  beforeAll(async () => {
    fixture = await openTollFixture();
    const { facilitator, payTo } = fixture;
    const gate = requirePayment({ facilitator, payTo, price: '$0.01' });
    url = await fixture.serve((app) => {
      app.set('trust proxy', true);
      app.all(['/report', '/other'], gate, (req, res) => {
        served.push(`${req.method} ${req.path}`);
        res.json({ path: req.path, runs: served.length });
      });
      app.get('/same-price', requirePayment({ facilitator, payTo, price: '$0.01' }), (req, res) => {
        served.push(`${req.method} ${req.path}`);
        res.json({ path: req.path });
      });
      app.get('/slow', gate, async (req, res) => {
        served.push(`${req.method} ${req.path}`);
        slow.entered.open();
        await slow.leave.opened;
        res.json({});
      });
    }, express);
  });
  afterAll(() => fixture.close());
  beforeEach(() => {
    served = [];
    balance = fixture.sandbox.tokenBalance(fixture.payer.publicKey.toBase58(), USDC);
  });

  test.each(['v1', 'v2'] as const)('twenty copies at once run the handler once: %s', async (version) => {
    const headers = (await signPayment(fixture, `${url}/report`))[version];
    const answers = await Promise.all(Array.from({ length: 20 }, () => fetch(`${url}/report`, { headers })));
    const texts = new Set<string>();
    for (const answer of answers) {
      expect([200, 409]).toContain(answer.status);
      if (answer.status === 200) texts.add(await answer.text());
      else expect(answer.headers.get('retry-after')).toBe('1');
    }
    const first = answers.filter(({ status, headers }) => status === 200 && !headers.has('idempotency-replayed'));

    expect(served).toEqual(['GET /report']);
    expect(first).toHaveLength(1);
    expect(texts.size).toBe(1);
    expect(spent()).toBe(PRICE);
  });

  test('twenty copies at once in two versions are for the version that came first', async () => {
    const { v1, v2 } = await signPayment(fixture, `${url}/report`);
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) => fetch(`${url}/report`, { headers: index % 2 === 0 ? v2 : v1 })),
    );

    expect(served).toEqual(['GET /report']);
    expect(answers.filter(({ status }) => status === 200).length).toBeGreaterThan(0);
    expect(answers.filter(({ status }) => status === 402)).toHaveLength(10);
    for (const { status } of answers) expect([200, 402, 409]).toContain(status);
    expect(spent()).toBe(PRICE);
  });

  test('a copy that comes while the first is being served is 409 payment_in_progress', async () => {
    const { v2 } = await signPayment(fixture, `${url}/slow`);
    const first = fetch(`${url}/slow`, { headers: v2 });
    await slow.entered.opened;
    const copy = await fetch(`${url}/slow`, { headers: v2 });
    slow.leave.open();

    expect(copy.status).toBe(409);
    expect(copy.headers.get('retry-after')).toBe('1');
    expect(copy.headers.get('cache-control')).toBe('no-store');
    expect(copy.headers.get('retry-after')).toBe('1');
    const detail = 'Another request is being served for this payment.';
    expect(await copy.json()).toMatchObject({ code: 'payment_in_progress', status: 409, retryable: true, detail });
    expect((await first).status).toBe(200);
    expect(served).toEqual(['GET /slow']);
  });

  test.each(['v1', 'v2'] as const)('the same request again gets the same response again: %s', async (version) => {
    const payment = await signPayment(fixture, `${url}/report`);
    const headers = payment[version];
    const first = await fetch(`${url}/report`, { headers });
    const again = await fetch(`${url}/report`, { headers });
    const inOtherVersion = await fetch(`${url}/report`, { headers: payment[version === 'v1' ? 'v2' : 'v1'] });
    const receipt = (answer: Response) =>
      decodePaymentResponseHeader(
        answer.headers.get('payment-response') ?? answer.headers.get('x-payment-response') ?? '',
      );

    expect(first.status).toBe(200);
    expect(first.headers.get('cache-control')).toBe('private');
    expect(first.headers.get('idempotency-replayed')).toBeNull();
    expect(receipt(first)).toMatchObject({ success: true, payer: fixture.payer.publicKey.toBase58() });
    expect([again.status, again.headers.get('idempotency-replayed')]).toEqual([200, 'true']);
    expect(await again.text()).toBe(await first.text());
    expect(again.headers.get('etag')).toBe(first.headers.get('etag'));
    expect(receipt(again)).toEqual(receipt(first));
    expect(inOtherVersion.status).toBe(402);
    expect(await inOtherVersion.json()).toMatchObject({ code: 'payment_already_used', error: 'payment_already_used' });
    expect(receipt(inOtherVersion).transaction).toBe(receipt(first).transaction);
    expect(served).toHaveLength(1);
    expect(spent()).toBe(PRICE);
  });

  test.each([
    ['another route', '/other', 'GET'],
    ['another route behind another gate', '/same-price', 'GET'],
    ['another method', '/report', 'POST'],
    ['another spelling of the path', '/report/', 'GET'],
    ['another query', '/report?more', 'GET'],
  ])('used before, it is refused on %s and shows its receipt', async (_what, path, method) => {
    const { v2 } = await signPayment(fixture, `${url}/report`);
    const first = await fetch(`${url}/report`, { headers: v2 });
    const again = await fetch(`${url}${path}`, { headers: v2, method });

    expect([first.status, again.status]).toEqual([200, 402]);
    expect(receiptOf(again)).toEqual(receiptOf(first));
    expect(await again.json()).toMatchObject({ code: 'payment_already_used' });
    expect(served).toEqual(['GET /report']);
    expect(spent()).toBe(PRICE);
  });

  test('at once on two routes, it is served on one', async () => {
    const { v2 } = await signPayment(fixture, `${url}/report`);
    const answers = await Promise.all(
      ['/report', '/other', '/same-price'].map((path) => fetch(`${url}${path}`, { headers: v2 })),
    );

    expect(answers.map(({ status }) => status).sort()).toEqual([200, 402, 402]);
    expect(served).toHaveLength(1);
    expect(spent()).toBe(PRICE);
  });

  test('other bytes in the slot of the fee payer do not make it another payment', async () => {
    const payment = await signPayment(fixture, `${url}/report`);
    const copies = [payment, ...[1, 2, 255].map((fill) => withOtherFeePayerBytes(payment, fill))];
    const answers = await Promise.all(copies.map(({ v2 }) => fetch(`${url}/report`, { headers: v2 })));
    const later = await fetch(`${url}/report`, { headers: withOtherFeePayerBytes(payment, 7).v2 });
    const thief = await fetch(`${url}/report`, { headers: withOtherFeePayerBytes(payment, 7).v1 });

    for (const { status } of answers) expect([200, 409]).toContain(status);
    expect([later.status, later.headers.get('idempotency-replayed'), thief.status]).toEqual([200, 'true', 402]);
    expect(served).toHaveLength(1);
    expect(spent()).toBe(PRICE);
  });

  test.each([
    ['v1', 'v1'],
    ['v1', 'v2'],
    ['v2', 'v1'],
    ['v2', 'v2'],
  ] as const)("paid in %s, somebody else's copy in %s gains nothing but a receipt", async (paid, brought) => {
    const payment = await signPayment(fixture, `${url}/report`);
    const first = await fetch(`${url}/report`, { headers: payment[paid] });
    const copy = (await stolenFrom(payment, `${url}/report`))[brought];
    const thief = await fetch(`${url}/report`, { headers: { ...copy, 'x-forwarded-for': '192.0.2.66' } });

    expect([first.status, thief.status]).toEqual([200, 402]);
    expect(await thief.json()).toMatchObject({ code: 'payment_already_used' });
    expect(thief.headers.get('etag')).toBeNull();
    expect(served).toHaveLength(1);
    expect((await fetch(`${url}/report`, { headers: payment[paid] })).status).toBe(200);
    expect(spent()).toBe(PRICE);
  });
});
