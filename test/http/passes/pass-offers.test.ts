import type { NextFunction, Request, Response } from 'express';
import { defined } from '../../../src/lib/defined.js';
import { requirePayment } from '../../../src/middleware/payment/require-payment.js';
import type { PassOption } from '../../../src/middleware/terms/pass-option.js';
import { openTollFixture, type TollFixture } from '../../helpers/fixtures/toll-fixture.js';
import { passAnswer } from '../../helpers/http/passes.js';
import { askTerms, type PaymentHeaders, signPayment } from '../../helpers/transactions/payments.js';

describe('several offers at one gate', () => {
  let fixture: TollFixture;
  let url: string;

  beforeAll(async () => {
    fixture = await openTollFixture();
    const { facilitator, payTo } = fixture;
    url = await fixture.serve((app) => {
      const pack = { price: '$0.50', pass: { uses: 100 } };
      const month = { price: '$1', pass: { for: '30d', group: 'magazine' } };
      app.get('/report', requirePayment({ facilitator, payTo, price: ['$0.01', pack, month] }), (_req, res) => {
        res.send('the report');
      });
      const first = { facilitator, payTo, price: '$0.50', settle: 'before', pass: { uses: 100 } } as const;
      app.get('/failing', requirePayment(first), (_req, res) => void res.status(503).send('not now'));
      app.get('/essay', requirePayment({ facilitator, payTo, price: [month] }), (_req, res) => {
        res.send('the essay');
      });
    });
  });
  afterAll(() => fixture.close());

  /** Pays one of the offers. */
  async function buy(choice: number) {
    const { v2 } = await signPayment(fixture, `${url}/report`, { choice });
    return fetch(`${url}/report`, { headers: v2 });
  }

  const tokenOf = (paid: Awaited<ReturnType<typeof buy>>): PaymentHeaders => ({
    'access-pass': paid.headers.get('access-pass') ?? '',
  });
  const get = async (path: string, headers: PaymentHeaders) => passAnswer(await fetch(`${url}${path}`, { headers }));

  test('stand in the 402 in the order of the seller, each in plain words', async () => {
    const { accepts } = await askTerms(`${url}/report`);
    expect(accepts.map(({ amount }) => amount)).toEqual(['10000', '500000', '1000000']);
    const words =
      'Offered are 0.01 USDC for 1 request, or 0.5 USDC for 100 requests, or 1 USDC for any number of requests for anything of "magazine" within 30 days.';
    expect(await (await fetch(`${url}/report`)).json()).toMatchObject({
      code: 'payment_required',
      detail: expect.stringContaining(words),
    });
    const page = await (await fetch(`${url}/report`, { headers: { accept: 'text/html' } })).text();
    const said = page.replace(/<[^>]+>/g, '');
    expect(said).toContain('0.50 USDC 100 requests');
    expect(said).toContain('1.00 USDC any number of requests for anything of &quot;magazine&quot; within 30 days');
    expect(page).not.toContain('class="problem"');
  });

  test('tell who has bought one what a sign-in is for, and say nothing of it where each request is paid', async () => {
    const { facilitator, payTo } = fixture;
    const once = await fixture.serve((app) => app.use(requirePayment({ facilitator, payTo, price: '$1' })));
    const pageOf = async (address: string) => (await fetch(address, { headers: { accept: 'text/html' } })).text();
    const told = 'Bought before? Sign in with the wallet that paid.';
    expect([(await pageOf(`${url}/report`)).includes(told), (await pageOf(once)).includes(told)]).toEqual([
      true,
      false,
    ]);
  });

  test.each([
    ['en', '24 hours', 'any number of requests for anything of &quot;all&quot; within 24 hours'],
    ['de', '24 hours', 'beliebig viele Anfragen für alles aus „all“, 24 Stunden gültig'],
    ['es', '24 hours', 'peticiones sin límite para todo lo de «all» durante 24 horas'],
    ['fr', '24 hours', 'autant de requêtes que voulu pour tout ce qui est dans « all » pendant 24 heures'],
    ['zh', '24 hours', '请求次数不限，适用于“all”的全部内容，有效期 24小时'],
    ['ja', '24 hours', 'リクエスト回数無制限（「all」のすべてが対象）、有効期間 24 時間'],
  ])('a page in %s says in its language what is bought, and the terms say "%s"', async (language, time, words) => {
    const { facilitator, payTo } = fixture;
    const shop = await fixture.serve((app) => {
      const pass = { for: '24h', group: 'all' };
      app.get('/', requirePayment({ facilitator, payTo, price: [{ price: '$1', pass }] }), (_req, res) => {
        res.send('all');
      });
    });
    const headers = { 'accept-language': language };
    const page = await (await fetch(shop, { headers: { ...headers, accept: 'text/html' } })).text();
    expect(page.replace(/<[^>]+>/g, '').replace(/\p{Zs}/gu, ' ')).toContain(words);
    const [{ extra } = { extra: {} }] = (await askTerms(shop, { headers })).accepts;
    expect(extra).toMatchObject({ buys: `any number of requests for anything of "all" within ${time}` });
  });

  test.each([
    ['a list', () => [{ price: '$0.02', pass: { uses: 3 } }]],
    ['one offer', () => ({ price: '$0.02', pass: { uses: 3 } })],
  ])('are no answer of a function, which would take the price of a pack for each request: %s', async (_what, price) => {
    const { facilitator, payTo } = fixture;
    const wrong = Object.assign({ facilitator, payTo, price: () => '$0.02' }, { price });
    const faults: unknown[] = [];
    const shop = await fixture.serve((app) => {
      app.get('/wrong', requirePayment(wrong), (_req, res) => void res.send('the report'));
      app.use((error: unknown, _req: Request, res: Response, _next: NextFunction) => {
        faults.push(error);
        res.sendStatus(500);
      });
    });
    expect((await fetch(`${shop}/wrong`)).status).toBe(500);
    expect(faults).toEqual([
      expect.objectContaining({ code: 'bad_option', message: expect.stringContaining('give a list as "price"') }),
    ]);
  });

  test.each([
    ['a pack', { uses: 100 }, { uses: 2 }],
    ['a month', { for: '30d' }, { for: '10s' }],
    ['a pack, and is one request then', { uses: 100 }, undefined],
    ['credit', { uses: 100 }, { credit: true, cost: '$0.01' }],
    ['a group', { uses: 100, group: 'magazine' }, { uses: 100 }],
  ])('are what was offered: another offer for the same price is not paid with %s', async (_what, before, after) => {
    const { facilitator, payTo } = fixture;
    const gateOf = (pass: PassOption | undefined) =>
      requirePayment({ facilitator, payTo, price: '$0.01', ...defined({ pass }) });
    const open = (pass: PassOption | undefined) =>
      fixture.serve((app) => {
        app.get('/a', gateOf(pass), (_req: Request, res: Response) => void res.send('good'));
      });
    const [shop, changed] = [await open(before), await open(after)];
    const { v2 } = await signPayment(fixture, `${shop}/a`);
    const refused = await fetch(`${changed}/a`, { headers: v2 });
    expect([refused.status, await refused.json()]).toEqual([
      402,
      expect.objectContaining({ error: 'no_matching_requirements' }),
    ]);
    const paid = await fetch(`${shop}/a`, { headers: v2 });
    expect([paid.status, paid.headers.get('access-pass')]).toEqual([200, expect.any(String)]);
    expect((await fetch(`${changed}/a`, { headers: v2 })).headers.get('idempotency-replayed')).toBe('true');
  });

  test('sell one request for the smallest price, and no pass', async () => {
    const paid = await buy(0);
    expect([paid.status, paid.headers.get('access-pass'), paid.headers.get('access-pass-remaining')]).toEqual([
      200,
      null,
      null,
    ]);
  });

  test('are changed, and who has paid before has what was offered then', async () => {
    const changed = await fixture.serve((app) => {
      const { facilitator, payTo } = fixture;
      app.get('/failing', requirePayment({ facilitator, payTo, price: '$0.70', pass: { uses: 2 } }), (_req, res) => {
        res.send('the report');
      });
    });
    const { v2 } = await signPayment(fixture, `${url}/failing`);
    const failed = await fetch(`${url}/failing`, { headers: v2 });
    expect([failed.status, failed.headers.get('access-pass-remaining')]).toEqual([503, '100']);
    const served = await fetch(`${changed}/failing`, { headers: v2 });
    expect([served.status, await served.text(), served.headers.get('access-pass-remaining')]).toEqual([
      200,
      'the report',
      '99',
    ]);
    expect(await passAnswer(await fetch(`${changed}/failing`, { headers: tokenOf(served) }))).toEqual({
      status: 200,
      left: '98',
    });
    const twin = await signPayment(fixture, `${changed}/failing`);
    expect(await passAnswer(await fetch(`${changed}/failing`, { headers: twin.v2 }))).toEqual({
      status: 200,
      left: '1',
    });
  });

  test('sell what stands beside the price that is paid', async () => {
    const pack = await buy(1);
    expect(pack.headers.get('access-pass-remaining')).toBe('99');
    expect(await get('/report', tokenOf(pack))).toEqual({ status: 200, left: '98' });
    expect(await get('/essay', tokenOf(pack))).toMatchObject({ status: 402, code: 'pass_of_another_route' });

    const month = await buy(2);
    expect(await get('/report', tokenOf(month))).toMatchObject({ status: 200 });
    expect(await get('/essay', tokenOf(month))).toMatchObject({ status: 200 });
    expect(Number(month.headers.get('access-pass-remaining'))).toBeGreaterThan(29 * 86_400);
  });
});
