import { createReadStream } from 'node:fs';
import { decodePaymentRequiredHeader } from '@x402/core/http';
import type { Express, Request, Response } from 'express';
import type { Facilitator } from '../../../src/facilitator/types.js';
import { paymentOf } from '../../../src/middleware/gate/request-properties.js';
import { requirePayment } from '../../../src/middleware/payment/require-payment.js';
import { openStorage } from '../../../src/storage/open-storage.js';
import { DAILY_EXPRESSES, openTollFixture, type TollFixture } from '../../helpers/fixtures/toll-fixture.js';
import { signingFetch } from '../../helpers/http/official-clients.js';
import { passAnswer } from '../../helpers/http/passes.js';
import { type PaymentHeaders, receiptOf, signPayment, stolenFrom } from '../../helpers/transactions/payments.js';

const USDC = '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU';
const PRICE = 10_000n;
const WHOLE = '0.01 USDC';

describe.each(DAILY_EXPRESSES)('a request that fails once its money has landed, %s', (_name, express) => {
  let fixture: TollFixture;
  let facilitator: Facilitator;
  let url: string;
  /** How many times the handlers fail before they succeed. */
  let failures = 0;
  let price = '$0.01';
  let runs = 0;
  let paid = 0n;
  let isMoved = false;
  let rule: () => boolean;

  beforeAll(async () => {
    fixture = await openTollFixture();
    facilitator = fixture.facilitatorWith({ storage: await openStorage('memory:') });
    url = await fixture.serve(routes, express);
  });
  afterAll(() => fixture.close());
  beforeEach(() => {
    [failures, runs, price] = [1, 0, '$0.01'];
    paid = received();
  });

  const received = () => fixture.sandbox.tokenBalance(fixture.payTo, USDC);

  function routes(app: Express): void {
    app.set('env', 'test');
    const gated = { facilitator, payTo: fixture.payTo, price: '$0.01', settle: 'before' } as const;
    const run = (fail: (req: Request, res: Response) => unknown) => (req: Request, res: Response) => {
      runs += 1;
      if (runs <= failures) return void fail(req, res);
      res.json({ payer: paymentOf(req)?.payer, paid: paymentOf(req)?.receipt?.signature });
    };
    const not = run((_req, res) => res.status(503).send('not now'));
    app.get('/report/:id', requirePayment(gated), not);
    app.get('/other/:id', requirePayment(gated), not);
    app.get('/quiet', requirePayment(gated), not);
    app.get(
      '/piped',
      requirePayment(gated),
      run((_req, res) => createReadStream(__filename).pipe(res.status(502))),
    );
    app.get(
      '/thrown',
      requirePayment(gated),
      run(() => {
        throw new Error('broken on purpose');
      }),
    );
    app.get(
      '/cut',
      requirePayment(gated),
      run((_req, res) => res.write('half', () => res.destroy())),
    );
    app.get('/asked', requirePayment({ ...gated, price: () => price }), not);
    const [single, many] = [requirePayment(gated), requirePayment({ ...gated, price: '$1', pass: { uses: 100 } })];
    app.get('/moved', (req, res, next) => (isMoved ? many : single)(req, res, next), not);
    app.get('/to', requirePayment({ ...gated, payTo: () => fixture.payTo }), not);
    app.get('/pack', requirePayment({ ...gated, pass: { uses: 1 } }), not);
    app.get('/credit', requirePayment({ ...gated, pass: { credit: true, cost: '$0.004' } }), not);
    app.get('/owed', requirePayment({ ...gated, compensate: false }), not);
    app.get('/ruled', requirePayment({ ...gated, charge: () => rule() }), not);
    app.get('/twice', requirePayment(gated), requirePayment(gated), not);
    const bulk = { price: '$1', pass: { credit: true, cost: '$0.001' } } as const;
    app.get('/bulk', requirePayment({ ...gated, price: ['$0.01', bulk] }), not);
  }

  const get = (path: string, headers: PaymentHeaders = {}) => fetch(url + path, { headers });
  const tokenOf = (answer: globalThis.Response) => ({ 'access-pass': answer.headers.get('access-pass') ?? '' });

  async function failed(path: string, status = 503) {
    const payment = await signPayment(fixture, url + path);
    const answer = await get(path, payment.v2);
    expect(answer.status).toBe(status);
    return { ...payment, answer, token: tokenOf(answer) };
  }

  test.each([
    ['/report/a', 503],
    ['/piped', 502],
    ['/thrown', 500],
    ['/to', 503],
    ['/bulk', 503],
  ])('leaves its payer with the amount, and says so: %s', async (path, status) => {
    const { answer, token } = await failed(path, status);
    const { headers } = answer;
    expect([headers.get('access-pass-remaining'), headers.get('access-credit'), receiptOf(answer).success]).toEqual([
      WHOLE,
      '0.01 USDC was not charged for this request, and pays the next one',
      true,
    ]);
    expect(headers.get('access-control-expose-headers')).toMatch(/Access-Pass.*Access-Credit/);
    await answer.text();
    const again = await get(path, token);
    expect(await passAnswer(again)).toEqual({ status: 200, left: '0 USDC' });
    expect(await passAnswer(await get(path, token))).toEqual({ status: 402, left: null, code: 'pass_used_up' });
    expect([runs, received() - paid]).toEqual([2, PRICE]);
  });

  test('is good for another request of the route, and of no other', async () => {
    const { token, answer } = await failed('/report/a');
    expect(await passAnswer(await get('/other/a', token))).toMatchObject({
      status: 402,
      code: 'pass_of_another_route',
    });
    const other = await get('/report/b', token);
    expect(await passAnswer(other.clone())).toMatchObject({ status: 200, left: '0 USDC' });
    // Its handler finds the payment that the credit is of.
    expect(await other.json()).toEqual({
      payer: fixture.payer.publicKey.toBase58(),
      paid: receiptOf(answer).transaction,
    });
  });

  test('succeeds with the very same payment, whose response can be had again then', async () => {
    const { v2, answer } = await failed('/report/a');
    const again = await get('/report/a', v2);
    expect([again.status, again.headers.get('access-pass-remaining'), receiptOf(again)]).toEqual([
      200,
      '0 USDC',
      receiptOf(answer),
    ]);
    const body = await again.text();
    expect(JSON.parse(body)).toEqual({
      payer: fixture.payer.publicKey.toBase58(),
      paid: receiptOf(answer).transaction,
    });
    const replayed = await get('/report/a', v2);
    expect([replayed.headers.get('idempotency-replayed'), await replayed.text()]).toEqual(['true', body]);
    expect([runs, received() - paid]).toEqual([2, PRICE]);
  });

  test('is tried as often as its payer likes, and charged once', async () => {
    failures = 6;
    const { v2, token } = await failed('/report/a');
    for (const headers of [v2, token, v2, v2, token]) {
      const answer = await get('/report/a', headers);
      expect(answer.headers.get('access-credit')).toMatch(/^0.01 USDC was not charged for this request/);
      expect(await passAnswer(answer)).toEqual({ status: 503, left: WHOLE });
    }
    expect(await passAnswer(await get('/report/a', v2))).toEqual({ status: 200, left: '0 USDC' });
    expect(await passAnswer(await get('/report/a', token))).toMatchObject({ status: 402, code: 'pass_used_up' });
    expect(received() - paid).toBe(PRICE);
  });

  test('is one request for its payment and its token, at once as well', async () => {
    const { v2, token } = await failed('/report/a');
    const all = await Promise.all([v2, token, v2, token].map((headers) => get('/report/a', headers)));
    const statuses = all.map(({ status }) => status).sort();
    expect(statuses[0]).toBe(200);
    // The payment is under way, or what it left is.
    expect(statuses.slice(1).every((it) => it === 402 || it === 409)).toBe(true);
    expect([runs, received() - paid]).toEqual([2, PRICE]);
  });

  test('is served once for a payment whose route has no single price any more', async () => {
    const { v2, token } = await failed('/moved');
    isMoved = true;
    expect(await passAnswer(await get('/moved', v2))).toEqual({ status: 200, left: '0 USDC' });
    isMoved = false;
    expect(await passAnswer(await get('/moved', token))).toMatchObject({ status: 402, code: 'pass_used_up' });
    expect([runs, received() - paid]).toEqual([2, PRICE]);
  });

  test('costs its payment no more than was paid for it, when a quote has moved', async () => {
    const { v2 } = await failed('/asked');
    price = '$0.011';
    expect(await passAnswer(await get('/asked', v2))).toEqual({ status: 200, left: '0 USDC' });
    expect(received() - paid).toBe(PRICE);
  });

  test('is not run for its payment where a function asks for far more, and is once it asks for that again', async () => {
    const { v2 } = await failed('/asked');
    price = '$0.05';
    const dear = await get('/asked', v2);
    expect([dear.status, dear.headers.get('access-pass-remaining'), await dear.json()]).toEqual([
      402,
      '0.01 USDC',
      expect.objectContaining({
        code: 'no_matching_requirements',
        detail: expect.stringMatching(/asked for more now than was paid for it.* 0\.01 USDC is left/),
      }),
    ]);
    price = '$0.01';
    expect(await passAnswer(await get('/asked', v2))).toEqual({ status: 200, left: '0 USDC' });
    expect([received() - paid, runs]).toEqual([PRICE, 2]);
  });

  test('tells a payment that is used up what is left of it, and how to have that', async () => {
    const { v2, token } = await failed('/credit');
    await (await get('/credit', token)).text();
    await (await get('/credit', token)).text();
    const again = await get('/credit', v2);
    expect(await again.json()).toMatchObject({
      code: 'payment_already_used',
      detail: expect.stringContaining('0.002 USDC is left of what it has bought: show that by its Access-Pass'),
    });
    expect([again.headers.get('access-pass-remaining'), again.headers.get('access-pass')]).toEqual([
      '0.002 USDC',
      expect.any(String),
    ]);
    runs = 0;
    const other = await failed('/report/a');
    await (await get('/report/a', other.token)).text();
    expect(await (await get('/report/a', other.v2)).json()).toMatchObject({
      code: 'payment_already_used',
      detail: expect.stringContaining('Nothing is left of it'),
    });
  });

  test('leaves nothing to a stranger who has its transaction from the chain', async () => {
    const payment = await failed('/report/a');
    const theft = await stolenFrom(payment, `${url}/report/a`);
    for (const headers of [theft.v2, theft.v1]) {
      const answer = await get('/report/a', headers);
      expect([answer.status, answer.headers.get('access-pass'), answer.headers.get('access-pass-remaining')]).toEqual([
        402,
        null,
        null,
      ]);
    }
    expect(await passAnswer(await get('/report/a', payment.token))).toMatchObject({ status: 200 });
  });

  test('leaves nothing to others at the address of a version 1 client, who have its transaction from the chain', async () => {
    const payment = await signPayment(fixture, `${url}/report/a`);
    const answer = await get('/report/a', payment.v1);
    const token = { 'access-pass': answer.headers.get('access-pass') ?? '' };
    expect(answer.status).toBe(503);
    const theft = await stolenFrom(payment, `${url}/report/a`);
    expect((await get('/report/a', theft.v1)).status).toBe(402);
    expect(await passAnswer(await get('/report/a', token))).toMatchObject({ status: 200 });
  });

  test('is made up for by the official client, which signs in and does not pay again', async () => {
    const wallet = await fixture.sandbox.createWallet({ usdc: '1' });
    const official = await signingFetch({ wallet, rpcUrl: fixture.sandbox.rpcUrl });
    expect((await official(`${url}/report/a`)).status).toBe(503);
    const again = await official(`${url}/report/a`);
    expect([again.status, again.headers.get('access-pass-remaining')]).toEqual([200, '0 USDC']);
    expect(received() - paid).toBe(PRICE);
    expect(await passAnswer(await official(`${url}/report/a`))).toMatchObject({ status: 200 });
    expect(received() - paid).toBe(2n * PRICE);
  });

  test('has strangers told of signing in where somebody has credit, and nowhere else', async () => {
    const extensionsAt = async (path: string) => {
      const required = (await get(path)).headers.get('payment-required') ?? '';
      return Object.keys(decodePaymentRequiredHeader(required).extensions ?? {});
    };
    await failed('/other/a');
    expect(await extensionsAt('/other/b')).toContain('sign-in-with-x');
    expect(await extensionsAt('/quiet')).not.toContain('sign-in-with-x');
  });

  test('leaves credit that takes what a request costs then', async () => {
    price = '$0.03';
    const { token, v2 } = await failed('/asked');
    price = '$0.04';
    expect(await passAnswer(await get('/asked', token))).toMatchObject({ status: 402, code: 'pass_used_up' });
    price = '$0.01';
    const answers = [await get('/asked', token), await get('/asked', v2), await get('/asked', token)];
    expect(await Promise.all(answers.map(passAnswer))).toEqual([
      { status: 200, left: '0.02 USDC' },
      { status: 200, left: '0.01 USDC' },
      { status: 200, left: '0 USDC' },
    ]);
    expect(received() - paid).toBe(3n * PRICE);
  });

  test('does not turn a single price into credit at the cost of many', async () => {
    const { token } = await failed('/bulk');
    expect(await passAnswer(await get('/bulk', token))).toEqual({ status: 200, left: '0 USDC' });
  });

  test('behind two gates that ask for the same is made good once, and costs its credit once', async () => {
    const { token, v2 } = await failed('/twice');
    expect(await passAnswer(await get('/twice', token))).toEqual({ status: 200, left: '0 USDC' });
    expect(await passAnswer(await get('/twice', v2))).toMatchObject({ status: 402 });
    const other = await failed('/twice').catch(() => undefined);
    expect([other, received() - paid]).toEqual([undefined, 2n * PRICE]);
  });

  test('gets its only use back, however often it fails', async () => {
    failures = 3;
    const { v2, token, answer } = await failed('/pack');
    const answers = [answer, await get('/pack', v2), await get('/pack', { ...token, origin: 'https://page.example' })];
    for (const { status, headers } of answers) {
      expect([status, headers.get('access-pass-remaining'), headers.get('access-credit')]).toEqual([
        503,
        '1',
        '1 use was not charged for this request, and is left of the pass',
      ]);
      expect(headers.get('access-control-expose-headers') ?? 'Access-Credit').toContain('Access-Credit');
    }
    const served = await get('/pack', v2);
    expect(served.headers.get('access-credit')).toBeNull();
    expect(await passAnswer(served)).toEqual({ status: 200, left: '0' });
    expect(await passAnswer(await get('/pack', token))).toMatchObject({ status: 402, code: 'pass_used_up' });
    expect(received() - paid).toBe(PRICE);
  });

  test('gets what it took of credit back', async () => {
    failures = 2;
    const { token, v2, answer } = await failed('/credit');
    for (const { headers } of [answer, await get('/credit', token)]) {
      expect([headers.get('access-pass-remaining'), headers.get('access-credit')]).toEqual([
        WHOLE,
        '0.004 USDC was not charged for this request, and pays the next one',
      ]);
    }
    expect(await passAnswer(await get('/credit', v2))).toEqual({ status: 200, left: '0.006 USDC' });
    expect(await passAnswer(await get('/credit', token))).toEqual({ status: 200, left: '0.002 USDC' });
  });

  test('and breaks off in the middle leaves the amount to who comes again', async () => {
    const { v2 } = await signPayment(fixture, `${url}/cut`);
    await expect(get('/cut', v2).then((it) => it.text())).rejects.toThrow();
    let again = await get('/cut', v2);
    while (again.status === 409) again = await get('/cut', v2);
    expect([again.status, again.headers.get('access-pass-remaining')]).toEqual([200, '0 USDC']);
  });

  test('is not told that it was not charged where the rule of its seller throws, and is tried again for its payment', async () => {
    rule = () => {
      throw new Error('the rule is broken');
    };
    const { v2, answer } = await failed('/ruled');
    expect([answer.headers.get('access-credit'), answer.headers.get('access-pass')]).toEqual([null, null]);
    rule = () => true;
    expect((await get('/ruled', v2)).status).toBe(200);
    expect([runs, received() - paid]).toEqual([2, PRICE]);
  });

  test('stays owed where its seller makes nothing good: three tries, and no credit', async () => {
    failures = 10;
    const { v2, answer } = await failed('/owed');
    expect([answer.headers.get('access-pass'), answer.headers.get('access-credit')]).toEqual([null, null]);
    const answers: globalThis.Response[] = [];
    while (answers.length < 3) {
      const again = await get('/owed', v2);
      if (again.status !== 409) answers.push(again);
    }
    expect(answers.map(({ status }) => status)).toEqual([503, 503, 402]);
    const { detail } = (await answers[2]!.json()) as { readonly detail: string };
    expect(detail).toMatch(
      /tried no more\. What was paid is not given back here.* ask its seller for it before you pay again/,
    );
  });
});
