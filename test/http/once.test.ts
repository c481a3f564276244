import { Keypair } from '@solana/web3.js';
import { requirePayment } from '../../src/middleware/require-payment.js';
import { createGate, receiptOf, signPayment, withOtherFeePayerBytes } from '../helpers/payments.js';
import { EXPRESSES, openTollStand, type TollStand } from '../helpers/toll-stand.js';

const USDC = '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU';
const PRICE = 10_000n;

describe.each(EXPRESSES)('one payment is good for one answer, %s', (_name, express) => {
  let stand: TollStand;
  let url: string;
  let served: string[] = [];
  let balance: bigint;
  const slow = { entered: createGate(), leave: createGate() };

  const spent = (): bigint => balance - stand.sandbox.tokenBalance(stand.payer.publicKey.toBase58(), USDC);

  beforeAll(async () => {
    stand = await openTollStand({ maxBlockhashAge: 2000 });
    const { facilitator, payTo } = stand;
    const gate = requirePayment({ facilitator, payTo, price: '$0.01' });
    url = await stand.serve((app) => {
      app.all(['/report', '/other'], gate, (req, res) => {
        served.push(`${req.method} ${req.path}`);
        res.json({ path: req.path });
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
  afterAll(() => stand.close());
  beforeEach(() => {
    served = [];
    balance = stand.sandbox.tokenBalance(stand.payer.publicKey.toBase58(), USDC);
  });

  test('twenty copies at once run the handler once; the others are told so', async () => {
    const { v1, v2 } = await signPayment(stand, `${url}/report`);
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) => fetch(`${url}/report`, { headers: index % 2 === 0 ? v2 : v1 })),
    );
    const paid = answers.filter(({ status }) => status === 200);
    const others = answers.filter(({ status }) => status !== 200);

    expect(served).toEqual(['GET /report']);
    expect(paid).toHaveLength(1);
    expect(new Set(others.map(({ status }) => status))).not.toContain(500);
    for (const { status, headers } of others) {
      expect([409, 402]).toContain(status);
      if (status === 409) expect(headers.get('retry-after')).toBe('1');
    }
    expect(spent()).toBe(PRICE);
  });

  test('a copy that comes while the first is being served is 409 payment_in_progress', async () => {
    const { v2 } = await signPayment(stand, `${url}/slow`);
    const first = fetch(`${url}/slow`, { headers: v2 });
    await slow.entered.opened;
    const copy = await fetch(`${url}/slow`, { headers: v2 });
    slow.leave.open();

    expect(copy.status).toBe(409);
    expect(copy.headers.get('retry-after')).toBe('1');
    expect(copy.headers.get('cache-control')).toBe('no-store');
    expect(await copy.json()).toMatchObject({ code: 'payment_in_progress', status: 409, retryable: true });
    expect((await first).status).toBe(200);
    expect(served).toEqual(['GET /slow']);
  });

  test('the same request again gets the receipt, and no second answer', async () => {
    const { v2, v1 } = await signPayment(stand, `${url}/report`);
    const first = await fetch(`${url}/report`, { headers: v2 });
    const again = await fetch(`${url}/report`, { headers: v2 });
    const asV1 = await fetch(`${url}/report`, { headers: v1 });
    const receipt = receiptOf(first);

    expect(first.status).toBe(200);
    expect(first.headers.get('cache-control')).toBe('private');
    expect(receipt).toMatchObject({ success: true, payer: stand.payer.publicKey.toBase58(), amount: '10000' });
    for (const answer of [again, asV1]) {
      expect(answer.status).toBe(402);
      expect(await answer.json()).toMatchObject({ code: 'payment_already_used', error: 'payment_already_used' });
      expect(receiptOf(answer)).toEqual(receipt);
    }
    expect(served).toHaveLength(1);
    expect(spent()).toBe(PRICE);
  });

  test.each([
    ['another route', '/other', 'GET'],
    ['another route behind another gate', '/same-price', 'GET'],
    ['another method', '/report', 'POST'],
    ['HEAD', '/report', 'HEAD'],
    ['another spelling of the path', '/report/', 'GET'],
  ])('used before, it is refused on %s and shows no receipt there', async (_what, path, method) => {
    const { v2 } = await signPayment(stand, `${url}/report`);
    const first = await fetch(`${url}/report`, { headers: v2 });
    const again = await fetch(`${url}${path}`, { headers: v2, method });

    expect([first.status, again.status]).toEqual([200, 402]);
    expect(again.headers.get('payment-response')).toBeNull();
    if (method !== 'HEAD') expect(await again.json()).toMatchObject({ code: 'payment_already_used' });
    expect(served).toEqual(['GET /report']);
    expect(spent()).toBe(PRICE);
  });

  test('at once on two routes, it is served on one', async () => {
    const { v2 } = await signPayment(stand, `${url}/report`);
    const answers = await Promise.all(
      ['/report', '/other', '/same-price'].map((path) => fetch(`${url}${path}`, { headers: v2 })),
    );

    expect(answers.map(({ status }) => status).sort()).toEqual([200, 402, 402]);
    expect(served).toHaveLength(1);
    expect(spent()).toBe(PRICE);
  });

  test('other bytes in the slot of the fee payer do not make it another payment', async () => {
    const payment = await signPayment(stand, `${url}/report`);
    const copies = [payment, ...[1, 2, 255].map((fill) => withOtherFeePayerBytes(payment, fill))];
    const answers = await Promise.all(copies.map(({ v2 }) => fetch(`${url}/report`, { headers: v2 })));
    const later = await fetch(`${url}/report`, { headers: withOtherFeePayerBytes(payment, 7).v1 });

    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(later.status).toBe(402);
    expect(served).toHaveLength(1);
    expect(spent()).toBe(PRICE);
  });

  test("somebody else's copy gains nothing but a receipt", async () => {
    const { v2 } = await signPayment(stand, `${url}/report`);
    await fetch(`${url}/report`, { headers: v2 });
    const thief = await fetch(`${url}/report`, {
      headers: { ...v2, 'user-agent': Keypair.generate().publicKey.toBase58() },
    });

    expect(thief.status).toBe(402);
    expect(served).toHaveLength(1);
  });
});
