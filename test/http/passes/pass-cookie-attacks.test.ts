import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { Express, Request, Response } from 'express';
import { idempotency } from '../../../src/middleware/idempotency/idempotency.js';
import { requirePayment } from '../../../src/middleware/payment/require-payment.js';
import { createMemoryIdempotencyStore } from '../../../src/storage/idempotency/memory-idempotency-store.js';
import { DAILY_EXPRESSES, openTollFixture, type TollFixture } from '../../helpers/fixtures/toll-fixture.js';
import { buyPass, passAnswer } from '../../helpers/http/passes.js';
import { signIn } from '../../helpers/http/sign-in.js';
import { signPayment, stolenFrom } from '../../helpers/transactions/payments.js';
import { walletKey } from '../../helpers/transactions/wallet-key.js';

const PASS = { uses: 9, cookie: true } as const;

describe.each(DAILY_EXPRESSES)('the cookie of a pass under attack, %s', (_name, express) => {
  let fixture: TollFixture;
  let url: string;
  let served = 0;
  let configure: (app: Express) => void;

  beforeAll(async () => {
    fixture = await openTollFixture();
    const { facilitator, payTo } = fixture;
    const gate = (more = {}) => requirePayment({ facilitator, payTo, price: '$0.50', pass: PASS, ...more });
    const handler = (_req: Request, res: Response) => {
      served += 1;
      res.send('good');
    };
    configure = (app) => {
      app.get('/report', gate(), handler);
      app.get('/other', gate(), handler);
      app.get('/once', gate({ pass: { uses: 1, cookie: true } }), handler);
      app.get('/mine', gate({ baseUrl: url }), handler);
      app.get('/theirs', gate({ baseUrl: 'https://theirs.example' }), handler);
      app.get('/twice', gate(), gate(), handler);
      app.get('/before', gate({ settle: 'before' }), handler);
      app.get('/repeated', idempotency({ store: createMemoryIdempotencyStore() }), gate(), handler);
      app.post('/repeated', idempotency({ store: createMemoryIdempotencyStore() }), gate(), handler);
      app.use('/files', gate(), handler);
    };
    url = await fixture.serve((app) => configure(app), express);
  });
  afterAll(() => fixture.close());
  beforeEach(() => {
    served = 0;
  });

  const buy = async (path: string, init?: RequestInit) => {
    const bought = await buyPass(fixture, url + path, init);
    const [cookie = ''] = bought.paid.headers.getSetCookie();
    const [pair = ''] = cookie.split(';');
    const [name = '', value = ''] = pair.split('=');
    return { ...bought, cookie: pair, name, value, set: cookie };
  };
  const get = async (path: string, cookie: string, headers: Readonly<Record<string, string>> = {}, method = 'GET') =>
    passAnswer(await fetch(url + path, { method, headers: { ...headers, cookie } }));

  /** What a server says that takes heads of a megabyte, and which cookies it has the browser keep or forget. */
  async function answered(path: string, cookie: string) {
    const app = express();
    configure(app);
    const server = createServer({ maxHeaderSize: 1 << 20 }, app).listen(0, '127.0.0.1');
    await once(server, 'listening');
    try {
      const { port } = server.address() as AddressInfo;
      const asked = request({ port, path, headers: { cookie, host: new URL(url).host } }).end();
      const [answer] = await once(asked, 'response');
      return {
        status: Number(answer.statusCode),
        cookies: [answer.headers['set-cookie'] ?? []].flat(),
        body: await text(answer),
      };
    } finally {
      server.close();
    }
  }

  test('that is of another route is not read, and under that route’s name it is refused', async () => {
    const [report, other] = [await buy('/report'), await buy('/other')];
    expect(await get('/other', report.cookie)).toMatchObject({ status: 402, code: 'payment_required' });
    expect(await get('/other', `${other.name}=${report.value}`)).toMatchObject({ code: 'pass_of_another_route' });
    expect(await get('/other', `${report.cookie}; ${other.cookie}`)).toMatchObject({ status: 200, left: '7' });
  });

  test('that is of another site is not read, and under this site’s name it is refused', async () => {
    const [mine, theirs] = [await buy('/mine'), await buy('/theirs')];
    expect(await get('/mine', theirs.cookie)).toMatchObject({ status: 402, code: 'payment_required' });
    expect(await get('/mine', `${mine.name}=${theirs.value}`)).toMatchObject({ code: 'pass_of_another_site' });
    expect(await get('/mine', mine.cookie)).toMatchObject({ status: 200 });
  });

  test('that was tampered with is refused and taken back', async () => {
    const { cookie, name, value } = await buy('/report');
    const [head, body, seal] = value.split('.');
    const richer = Buffer.from(JSON.stringify({ jti: 'pas_other' })).toString('base64url');
    for (const wrong of [
      '',
      'x',
      `${value}x`,
      `"${value}"`,
      [head, richer, seal].join('.'),
      [head, body, ''].join('.'),
    ]) {
      const answer = await fetch(`${url}/report`, { headers: { cookie: `${name}=${wrong}` } });
      expect([await passAnswer(answer.clone()), answer.headers.getSetCookie()]).toEqual([
        { status: 402, left: null, code: 'invalid_pass' },
        [`${name}=; Path=/report; Max-Age=0; HttpOnly; SameSite=Lax`],
      ]);
    }
    expect([await get('/report', cookie), served]).toEqual([{ status: 200, left: '7', code: undefined }, 2]);
  });

  test.each([
    ['a name that ends like it', (it: string) => `x${it}`],
    ['a name that is in the value of another', (it: string) => `theme="${it}"`],
    ['another case', (it: string) => it.replace('access', 'Access')],
  ])('is not read from %s', async (_what, written) => {
    const { cookie } = await buy('/report');
    expect(await get('/report', written(cookie))).toMatchObject({ status: 402, code: 'payment_required' });
  });

  describe('beside cookies of its name that another host of the domain has planted', () => {
    const planted = (name: string, many: number) => Array.from({ length: many }, (_, at) => `${name}=planted${at}`);

    test('is found, however many a browser keeps, and is not taken back', async () => {
      const { cookie, name } = await buy('/report');
      for (const many of [1, 3, 180]) {
        expect(await answered('/report', [...planted(name, many), cookie].join('; '))).toMatchObject({
          status: 200,
          cookies: [],
        });
      }
      expect(await get('/report', cookie)).toMatchObject({ status: 200, left: '4' });
    });

    test('is not taken back behind more of them than are read', async () => {
      const { cookie, name } = await buy('/report');
      const hidden = await answered('/report', [...planted(name, 200), cookie].join('; '));
      expect(hidden).toMatchObject({ status: 402, cookies: [], body: expect.stringContaining('"invalid_pass"') });
      const bad = await answered('/report', planted(name, 200).join('; '));
      expect(bad).toMatchObject({
        status: 402,
        cookies: [expect.stringContaining(`${name}=; Path=/report; Max-Age=0`)],
      });
    });

    test('is told of and kept where it is used up, since a use may come back', async () => {
      const { cookie, name } = await buy('/once');
      const used = { status: 402, cookies: [], body: expect.stringContaining('"pass_used_up"') };
      expect(await answered('/once', [...planted(name, 3), cookie].join('; '))).toEqual(used);
    });

    test('is found behind four passes that are over, each paid for, and behind five is not taken back', async () => {
      const over: string[] = [];
      for (let time = 0; time < 5; time += 1) {
        const { cookie, value } = await buy('/report');
        const claims = JSON.parse(Buffer.from(value.split('.')[1] ?? '', 'base64url').toString());
        await fixture.facilitator.passes.revoke(claims.jti);
        over.push(cookie);
      }
      const own = (await buy('/report')).cookie;
      const behind = (some: readonly string[]) => answered('/report', [...some, own].join('; '));
      expect(await behind([...over.slice(0, 4), ...over.slice(0, 4)])).toMatchObject({ status: 200, cookies: [] });
      expect(await behind(over)).toMatchObject({ status: 402, cookies: [] });
      expect(await answered('/report', over.join('; '))).toMatchObject({ status: 402, cookies: [expect.any(String)] });
      expect(await get('/report', own)).toMatchObject({ status: 200, left: '6' });
    });
  });

  test('is debited once at two gates that sell the same, and for the head alone too', async () => {
    const { cookie } = await buy('/twice');
    expect(await get('/twice', cookie)).toMatchObject({ status: 200, left: '7' });
    expect(await get('/twice', cookie, {}, 'HEAD')).toMatchObject({ status: 200, left: '6' });
  });

  test('is not used beside a payment, a token or a sign-in', async () => {
    const { cookie } = await buy('/report');
    const { v2 } = await signPayment(fixture, `${url}/report`);
    expect(await get('/report', cookie, v2)).toMatchObject({ status: 200, left: '8' });
    expect(await get('/report', cookie, { 'access-pass': 'x' })).toMatchObject({ status: 402, code: 'invalid_pass' });
    const stranger = await signIn(walletKey('stranger'), `${url}/report`);
    expect(await get('/report', cookie, stranger)).toMatchObject({ status: 402, code: 'payment_required' });
    expect(await get('/report', cookie, { 'payment-signature': 'x' })).toMatchObject({ status: 400 });
    expect(await get('/report', cookie)).toMatchObject({ status: 200, left: '7' });
  });

  test('counts beside credentials that prove no wallet', async () => {
    const { cookie } = await buy('/report');
    const basic = { authorization: `Basic ${Buffer.from('staging:door').toString('base64')}` };
    expect(await get('/report', cookie, basic)).toMatchObject({ status: 200, left: '7' });
  });

  test.each(['/report', '/before'])(
    'is told again to who shows the secret of the payment for %s, and to nobody else',
    async (path) => {
      const { payment, name } = await buy(path);
      const again = await fetch(url + path, { headers: payment.v2 });
      expect([again.status, again.headers.getSetCookie()]).toEqual([200, [expect.stringContaining(`${name}=ey`)]]);
      const theft = await stolenFrom(payment, url + path);
      const stolen = await fetch(url + path, { headers: theft.v2 });
      expect([stolen.status, stolen.headers.getSetCookie()]).toEqual([402, []]);

      const { v1 } = await signPayment(fixture, url + path);
      const paid = await fetch(url + path, { headers: v1 });
      const byAddress = await fetch(url + path, { headers: v1 });
      expect([paid.headers.getSetCookie().length, byAddress.status, byAddress.headers.getSetCookie()]).toEqual([
        1,
        200,
        [],
      ]);
    },
  );

  test('is not in a response that is kept for who repeats an idempotent request', async () => {
    const headers = { 'idempotency-key': 'one-and-the-same-key' };
    const init = { method: 'POST', headers };
    const { v2 } = await signPayment(fixture, `${url}/repeated`, { init: { method: 'POST' } });
    const paid = await fetch(`${url}/repeated`, { ...init, headers: { ...headers, ...v2 } });
    expect([paid.status, paid.headers.getSetCookie().length]).toEqual([200, 1]);
    const replayed = await fetch(`${url}/repeated`, { ...init, headers: { ...headers, ...v2 } });
    expect([replayed.headers.get('idempotency-replayed'), replayed.headers.getSetCookie()]).toEqual(['true', []]);
  });

  test.each([
    ['an attribute', '/files/a;Domain=example.com', '/'],
    ['a comma', '/files/a,b', '/'],
    ['too much', `/files/${'x'.repeat(600)}`, '/'],
    ['an end of line', '/files/a%0d%0ab', '/files/a%0d%0ab'],
    ['a slash', '/files/', '/files'],
  ])('has nothing added to it by %s in the path that is asked for', async (_what, path, cookiePath) => {
    const { set, cookie } = await buy(path);
    expect(set.split('; ').map((it) => it.split('=')[0])).toEqual([
      expect.stringContaining('access-pass-'),
      ...['Path', 'Max-Age', 'HttpOnly', 'SameSite'],
    ]);
    expect(set).toContain(`; Path=${cookiePath}; `);
    expect(await get(path, cookie)).toMatchObject({ status: 200 });
  });

  test('is found among a hundred cookies of 4 KB, in a server that takes so many', async () => {
    const { cookie, name } = await buy('/report');
    const junk = Array.from({ length: 100 }, (_, at) => `${name}${at}=${'x'.repeat(4_000)}`);
    expect(await answered('/report', [...junk, cookie].join('; '))).toMatchObject({ status: 200 });
  });
});
