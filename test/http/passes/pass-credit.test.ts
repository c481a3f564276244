import type { Express, Request, Response } from 'express';
import { chargeCredit } from '../../../src/middleware/gate/request-properties.js';
import { requirePayment } from '../../../src/middleware/payment/require-payment.js';
import { DAILY_EXPRESSES, openTollFixture, type TollFixture } from '../../helpers/fixtures/toll-fixture.js';
import { buyPass, passAnswer } from '../../helpers/http/passes.js';
import { signIn } from '../../helpers/http/sign-in.js';
import { askTerms, type PaymentHeaders, signPayment } from '../../helpers/transactions/payments.js';
import { walletKeyOf } from '../../helpers/transactions/wallet-key.js';
import { until } from '../../helpers/until.js';

describe.each(DAILY_EXPRESSES)('credit, %s', (_name, express) => {
  let fixture: TollFixture;
  let facilitator: TollFixture['facilitator'];
  let url: string;
  let served = 0;

  beforeAll(async () => {
    fixture = await openTollFixture();
    ({ facilitator } = fixture);
    url = await fixture.serve(routes, express);
  });
  afterAll(() => fixture.close());
  beforeEach(async () => {
    served = 0;
    for (const { id } of await facilitator.passes.list(ownAddress())) await facilitator.passes.revoke(id);
  });

  const ownAddress = () => fixture.payer.publicKey.toBase58();

  function routes(app: Express): void {
    const { payTo } = fixture;
    const sold = { facilitator, payTo, price: '$0.01' };
    const fixed = requirePayment({ ...sold, pass: { credit: true, cost: '$0.003' } });
    app.get('/fixed', fixed, (req, res) => {
      served += 1;
      const { kind, left, mint } = req.pass ?? {};
      res.status(req.query['fail'] === undefined ? 200 : 503).json({ kind, left: String(left), mint });
    });
    const cost = ['$0.004', '0.004 USDT'];
    for (const settle of ['after', 'before'] as const) {
      const price = ['$0.01', '0.01 USDT'];
      const gate = requirePayment({ ...sold, settle, price, pass: { credit: true, cost, for: '30d' } });
      app.get(`/${settle}`, gate, metered);
    }
    const single = requirePayment({
      ...sold,
      price: ['$0.001', { price: '$0.01', pass: { credit: true, cost: '$0.005' } }],
    });
    app.get('/single', single, metered);
    const dear = requirePayment({ ...sold, pass: { credit: true, cost: '$0.005', group: 'all' } });
    const cheap = requirePayment({ ...sold, pass: { credit: true, cost: '$0.002', group: 'all' } });
    app.get('/dear', dear, metered);
    app.get('/cheap', cheap, metered);
    app.get('/both', cheap, dear, metered);
    app.get('/both-again', dear, cheap, metered);
  }

  /** Charges what the query lists, one after the other or all at once, and says what came of each. */
  async function metered(req: Request, res: Response): Promise<void> {
    served += 1;
    const asked = [req.query['charge'] ?? []].flat().map(String);
    const charge = async (amount: string) => {
      const digits = /^(-?\d+)n$/.exec(amount)?.[1];
      return chargeCredit(req, digits === undefined ? amount : BigInt(digits)).catch((error: Error) => error.message);
    };
    const charged: unknown[] = [];
    if (req.query['at'] === 'once') charged.push(...(await Promise.all(asked.map(charge))));
    else for (const amount of asked) charged.push(await charge(amount));
    if (req.query['fail'] !== undefined) return void res.status(503).send('not now');
    res.json(charged);
  }

  const get = async (path: string, headers: PaymentHeaders) => passAnswer(await fetch(url + path, { headers }));
  const charges = (path: string, ...amounts: string[]) =>
    `${path}?${new URLSearchParams(amounts.map((it): [string, string] => ['charge', it]))}`;

  /** What is left of the newest pass. */
  async function left(): Promise<bigint | undefined> {
    const [pass] = await facilitator.passes.list(ownAddress());
    return pass?.left;
  }

  test('is the amount that was paid, of which the paid request takes its part first, until less is left than a request takes', async () => {
    const { token, paid } = await buyPass(fixture, `${url}/fixed`);
    const { headers } = paid;
    expect([headers.get('access-pass-remaining'), await paid.json()]).toEqual(['0.007 USDC', { left: 'undefined' }]);
    const [pass] = await facilitator.passes.list(ownAddress());
    const mint = facilitator.tokens.find(({ symbol }) => symbol === 'USDC')?.mint;
    expect(pass).toMatchObject({ kind: 'credit', mint, bought: 10_000n, left: 7_000n });

    const first = await fetch(`${url}/fixed`, { headers: token });
    expect(await first.json()).toEqual({ kind: 'credit', left: '4000', mint });
    expect(first.headers.get('access-pass-remaining')).toBe('0.004 USDC');
    expect(await get('/fixed', token)).toEqual({ status: 200, left: '0.001 USDC' });
    served = 0;
    const over = await fetch(`${url}/fixed`, { headers: token });
    expect(over.headers.get('payment-required')).not.toBeNull();
    expect([await passAnswer(over), served]).toEqual([{ status: 402, left: '0.001 USDC', code: 'pass_used_up' }, 0]);
    expect(await left()).toBe(1_000n);
  });

  test('lets as many of several in that race for it as it pays for', async () => {
    const { token } = await buyPass(fixture, `${url}/fixed`);
    const racing = await Promise.all(Array.from({ length: 6 }, () => get('/fixed', token)));
    expect(racing.filter(({ status }) => status === 200)).toHaveLength(2);
    expect(racing.filter(({ code }) => code === 'pass_used_up')).toHaveLength(4);
    expect(await left()).toBe(1_000n);
  });

  test('takes nothing for a request that fails, and says so', async () => {
    const { token } = await buyPass(fixture, `${url}/fixed`);
    expect(await get('/fixed?fail', token)).toEqual({ status: 503, left: '0.007 USDC' });
    await until(async () => (await left()) === 7_000n);
    expect(await get(`${charges('/cheap', '1n')}&fail`, token)).toMatchObject({ code: 'pass_of_another_route' });
  });

  test('is used by the wallet that signs in', async () => {
    await buyPass(fixture, `${url}/fixed`);
    const headers = await signIn(walletKeyOf(fixture.payer.secretKey.subarray(0, 32)), `${url}/fixed`);
    expect(await get('/fixed', headers)).toEqual({ status: 200, left: '0.004 USDC' });
  });

  test('says in the 402 what it buys, in each token', async () => {
    const { accepts } = await askTerms(`${url}/after`);
    expect(accepts.map(({ amount }) => amount)).toEqual(['10000', '10000']);
    const details = [
      [
        '/after',
        'One payment buys 0.01 USDC of credit within 30 days, at most 0.004 USDC a request, or 0.01 USDT of credit within 30 days, at most 0.004 USDT a request.',
      ],
      ['/single', 'Offered are 0.001 USDC for 1 request, or 0.01 USDC of credit, at most 0.005 USDC a request.'],
      ['/dear', 'One payment buys 0.01 USDC of credit for anything of "all", at most 0.005 USDC a request.'],
    ] as const;
    for (const [path, words] of details) {
      expect(await (await fetch(url + path)).json()).toMatchObject({ detail: expect.stringContaining(words) });
    }
  });

  describe.each(['/after', '/before'])('that is metered, of a gate with settle: %s,', (path) => {
    async function buy(query = path, choice = 0) {
      const payment = await signPayment(fixture, url + query, { choice });
      const paid = await fetch(url + query, { headers: payment.v2 });
      return { payment, paid, token: { 'access-pass': paid.headers.get('access-pass') ?? '' } };
    }

    test('takes from the paid request what its handler says, exactly', async () => {
      const { paid, token } = await buy(charges(path, '0.0004 USDC', '$0.0001', '7n'));
      expect([paid.status, await paid.json()]).toEqual([200, [true, true, true]]);
      await until(async () => (await left()) === 10_000n - 507n);
      expect(await get(charges(path, '1n'), token)).toEqual({ status: 200, left: '0.009492 USDC' });
      await until(async () => (await left()) === 9_492n);
    });

    test('takes from a request what its handler says, exactly, and nothing where that is nothing', async () => {
      const { token } = await buy();
      await until(async () => (await left()) === 6_000n);
      expect(await get(charges(path, '0.0004 USDC'), token)).toEqual({ status: 200, left: '0.0056 USDC' });
      expect(await get(charges(path, '0n', '0 USDC', '$0'), token)).toEqual({ status: 200, left: '0.0056 USDC' });
      expect(await get(charges(path, '0.004 USDC'), token)).toEqual({ status: 200, left: '0.0016 USDC' });
      await until(async () => (await left()) === 1_600n);
    });

    test('takes the most where the handler says nothing', async () => {
      const { token } = await buy();
      expect(await get(path, token)).toEqual({ status: 200, left: '0.002 USDC' });
      await until(async () => (await left()) === 2_000n);
    });

    test('takes nothing where the handler fails that has charged', async () => {
      const { token } = await buy(charges(path, '1000n'));
      expect(await get(`${charges(path, '300n')}&fail`, token)).toEqual({ status: 503, left: '0.009 USDC' });
      await until(async () => (await left()) === 9_000n);
    });

    test('adds up what is charged at the same time, and refuses what is more than the most by itself', async () => {
      const { token } = await buy(charges(path, '0n'));
      const answer = await fetch(`${url}${charges(path, ...Array<string>(9).fill('500n'))}&at=once`, {
        headers: token,
      });
      const results = (await answer.json()) as unknown[];
      expect(results.filter((it) => it === true)).toHaveLength(8);
      expect(results.filter((it) => it !== true)).toEqual([
        'chargeCredit: 0.0005 USDC after 0.004 USDC is more than a request costs here at most, 0.004 USDC: raise "cost" of the pass, or sell streams with stream: true',
      ]);
      await until(async () => (await left()) === 6_000n);
    });

    test.each([
      ['-1n', /negative/],
      ['-0.001 USDC', /negative/],
      ['4001n', /0.004001 USDC after 0.00002 USDC is more than a request costs here at most, 0.004 USDC/],
      [`${2n ** 64n - 1n}n`, /is more than a request costs here at most/],
      [`${2n ** 64n}n`, /more than a token account can hold/],
      ['0.0001 USDT', /0.0001 USDT cannot be taken from credit in USDC/],
      ['0.0001', /names no token/],
      ['0.0000001 USDC', /more decimal places/],
      ['free', /is not a price/],
    ])('refuses a charge of %s, which changes nothing', async (amount, message) => {
      const { token } = await buy(charges(path, '0n'));
      const answer = await fetch(url + charges(path, '20n', amount), { headers: token });
      expect(await answer.json()).toEqual([true, expect.stringMatching(message)]);
      await until(async () => (await left()) === 9_980n);
    });

    test('costs in the token in which it was paid', async () => {
      const { paid, token } = await buy(path, 1);
      expect([paid.status, await get(charges(path, '0.0005 USDT'), token)]).toEqual([
        200,
        { status: 200, left: '0.0055 USDT' },
      ]);
      const wrong = await fetch(url + charges(path, '0.0005 USDC'), { headers: token });
      expect(await wrong.json()).toEqual([expect.stringContaining('cannot be taken from credit in USDT')]);
    });

    test('has the same response and the same rest for a payment that is sent again', async () => {
      const query = charges(path, '600n');
      const { payment } = await buy(query);
      await until(async () => (await left()) === 9_400n);
      served = 0;
      expect(await get(query, payment.v2)).toEqual({ status: 200, left: '0.0094 USDC' });
      expect([served, await left()]).toEqual([0, 9_400n]);
    });
  });

  test('is not taken from a request that is paid by itself, whatever its handler charges', async () => {
    const { v2 } = await signPayment(fixture, `${url}${charges('/single', '1n')}`, { choice: 0 });
    const paid = await fetch(url + charges('/single', '99 USDT', 'nonsense'), { headers: v2 });
    expect(paid.status).toBe(200);
    expect(await paid.json()).toEqual([true, true]);
    expect(paid.headers.get('access-pass')).toBeNull();
  });

  test('of a group pays at each gate what that gate asks for, and the most of two on the way of one request', async () => {
    const { token } = await buyPass(fixture, `${url}/cheap`);
    expect([await left(), await get('/cheap', token)]).toEqual([8_000n, { status: 200, left: '0.006 USDC' }]);
    expect(await get('/both', token)).toEqual({ status: 200, left: '0.001 USDC' });
    expect(await left()).toBe(1_000n);
    const next = await buyPass(fixture, `${url}/cheap`);
    expect(await get(charges('/both-again', '1000n', '1500n'), next.token)).toEqual({
      status: 200,
      left: '0.0055 USDC',
    });
    await until(async () => (await left()) === 5_500n);
    expect(await get('/both', next.token)).toEqual({ status: 200, left: '0.0005 USDC' });
    expect(await get('/both', next.token)).toMatchObject({ status: 402, code: 'pass_used_up' });
  });

  test('in a token that nothing costs anything in any more is refused', async () => {
    const { v2 } = await signPayment(fixture, `${url}/after`, { choice: 1 });
    const paid = await fetch(`${url}/after`, { headers: v2 });
    const token = { 'access-pass': paid.headers.get('access-pass') ?? '' };
    const changed = await fixture.serve((app) => {
      const pass = { credit: true, cost: '$0.004' } as const;
      app.get('/after', requirePayment({ facilitator, payTo: fixture.payTo, price: '$0.01', pass }), metered);
    }, express);
    expect(await passAnswer(await fetch(`${changed}/after`, { headers: token }))).toMatchObject({
      status: 402,
      code: 'pass_of_another_token',
    });
    expect(await get('/after', token)).toEqual({ status: 200, left: '0.002 USDT' });
  });
});
