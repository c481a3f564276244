import type { Request, Response } from 'express';
import jwt from 'jsonwebtoken';
import { requirePayment } from '../../../src/middleware/payment/require-payment.js';
import { paywall } from '../../../src/middleware/paywall/paywall.js';
import { openStorage } from '../../../src/storage/open-storage.js';
import { DAILY_EXPRESSES, openTollFixture, type TollFixture } from '../../helpers/fixtures/toll-fixture.js';
import { type CookieJar, openCookieJar } from '../../helpers/http/cookie-jar.js';
import { passAnswer } from '../../helpers/http/passes.js';
import { signIn } from '../../helpers/http/sign-in.js';
import { testClock } from '../../helpers/test-clock.js';
import { signPayment } from '../../helpers/transactions/payments.js';
import { walletKeyOf } from '../../helpers/transactions/wallet-key.js';

const DAY_MS = 86_400_000;
const YEAR = 31_536_000;
const SITE = 'https://shop.example';

describe.each(DAILY_EXPRESSES)('the cookie of a pass, %s', (_name, express) => {
  const clock = testClock(Date.now());
  let fixture: TollFixture;
  let facilitator: TollFixture['facilitator'];
  let url: string;
  let browser: CookieJar;

  beforeAll(async () => {
    fixture = await openTollFixture();
    facilitator = fixture.facilitatorWith({
      storage: await openStorage('memory:', { now: clock.now }),
      now: clock.now,
    });
    const sold = { facilitator, payTo: fixture.payTo, price: '$0.50' };
    const uses = (count: number, more = {}) =>
      requirePayment({ ...sold, ...more, pass: { uses: count, cookie: true } });
    const handler = (req: Request, res: Response) => void res.send(req.path);
    url = await fixture.serve((app) => {
      app.get('/day/:id', requirePayment({ ...sold, pass: { for: '24h', cookie: true } }), handler);
      app.get('/ten/years', requirePayment({ ...sold, pass: { for: '3650d', cookie: true } }), handler);
      app.get('/three', uses(3), handler);
      app.post('/three', uses(3), handler);
      app.get('/plain', requirePayment({ ...sold, pass: { uses: 3 } }), handler);
      const group = requirePayment({ ...sold, pass: { uses: 9, group: 'magazine', cookie: true } });
      app.get(['/essay', '/letter'], group, handler);
      app.use('/below', uses(9), handler);
      const named = { ...sold, baseUrl: `${SITE}/v1` };
      const secure = { ...named, pass: { for: '24h', cookie: true } };
      app.get('/report/:id', requirePayment(secure), handler);
      app.get('/:year/news', requirePayment({ ...named, pass: { uses: 9, group: 'news', cookie: true } }), handler);
      const users = express.Router();
      users.get('/report/:n', uses(9), handler);
      app.use('/users/:id', users);
      app.get(/^\/re\d+$/, uses(9), handler);
      app.get('/', uses(9), handler);
      app.use(paywall({ '/map/*': { ...sold, pass: { uses: 9, cookie: true } } }));
      app.use('/map', handler);
      app.use('/old', (req, _res, next) => {
        req.url = '/report/1';
        next();
      });
      app.use('/old', users);
      for (const settle of ['after', 'before'] as const) {
        app.get(`/own/${settle}`, uses(9, { settle }), (_req, res) => {
          res.cookie('basket', 'full').writeHead(200, { 'Set-Cookie': ['a=1', 'b=2'] });
          res.end('good');
        });
      }
    }, express);
  });
  afterAll(() => fixture.close());
  beforeEach(() => {
    browser = openCookieJar(url);
  });

  /** A page of the site pays, with what its script can do. */
  async function pay(path: string, at = browser, init: RequestInit = {}) {
    const { v2 } = await signPayment(fixture, url + path, { init });
    const paid = await at.get(path, { ...init, headers: { ...init.headers, ...v2 } });
    expect(paid.status).toBe(200);
    return paid;
  }
  const get = async (path: string, init?: RequestInit) => passAnswer(await browser.get(path, init));
  const only = (paid: globalThis.Response) => paid.headers.getSetCookie()[0] ?? '';
  const idOf = (paid: globalThis.Response) =>
    String(jwt.decode(paid.headers.get('access-pass') ?? '', { json: true })?.jti);

  test('comes with the paid response, and a reload within the day is free', async () => {
    const paid = await pay('/day/1');
    const token = paid.headers.get('access-pass');
    expect(paid.headers.getSetCookie()).toEqual([
      expect.stringMatching(/^access-pass-[\da-f]{16}=[\w.-]+; Path=\/day; Max-Age=\d+; HttpOnly; SameSite=Lax$/),
    ]);
    expect(only(paid)).toContain(`=${token};`);
    expect(paid.headers.get('vary')).toContain('Cookie');

    const reload = await browser.get('/day/1', { headers: { 'sec-fetch-site': 'none', accept: 'text/html' } });
    expect([reload.status, await reload.text()]).toEqual([200, '/day/1']);
    expect([reload.headers.get('cache-control'), reload.headers.get('vary')]).toEqual([
      'private',
      expect.stringContaining('Cookie'),
    ]);
    expect([reload.headers.get('access-pass'), reload.headers.getSetCookie()]).toEqual([null, []]);
    expect(await get('/day/2?a=b')).toMatchObject({ status: 200 });
    expect(await get('/three')).toMatchObject({ status: 402, code: 'payment_required' });
  });

  test('is sent by browsers to its own route, however that is written, and to the whole host for a group', async () => {
    await pay('/DAY/1');
    await pay('/below/a');
    await pay('/essay');
    const paths = Object.values(browser.cookies()).toSorted();
    expect(paths).toEqual(['/', '/DAY', '/below/a']);
    expect([await get('/DAY/2'), await get('/below/a'), await get('/letter')]).toEqual([
      expect.objectContaining({ status: 200 }),
      expect.objectContaining({ status: 200, left: '7' }),
      expect.objectContaining({ status: 200, left: '7' }),
    ]);
    expect(await get('/below/b')).toMatchObject({ status: 402, code: 'payment_required' });
  });

  test.each([
    ['a router below a parameter', '/users/5/report/1', '/users/5/report'],
    ['a pattern that is no text', '/re5', '/'],
    ['the front page', '/', '/'],
    ['a table of routes', '/map/a/b', '/map'],
    ['an address that was rewritten', '/old/x', '/'],
  ])('has the narrowest path that is known to cover %s', async (_what, path, cookiePath) => {
    await pay(path);
    expect(Object.values(browser.cookies())).toEqual([cookiePath]);
    expect(await get(path)).toMatchObject({ status: 200, left: '7' });
  });

  test('is kept to https where the site is, below the path that browsers see, under a name that nobody else sets', async () => {
    const at = openCookieJar(url, SITE);
    const report = await pay('/report/1', at);
    const news = await pay('/2026/news', at);
    expect([only(report), only(news)]).toEqual([
      expect.stringMatching(/^__Secure-access-pass-.*; Path=\/v1\/report; .*; Secure$/),
      expect.stringMatching(/^__Host-access-pass-.*; Path=\/; .*; Secure$/),
    ]);
    const [cookie] = only(report).split(';');
    expect((await fetch(`${url}/report/2`, { headers: { cookie: cookie ?? '' } })).status).toBe(200);
    expect((await at.get('/2026/news')).status).toBe(200);
    const unnamed = { cookie: cookie?.replace('__Secure-', '') ?? '' };
    expect((await fetch(`${url}/report/2`, { headers: unnamed })).status).toBe(402);
  });

  test('lasts as its pass does, and a year at most', async () => {
    const ages: (string | undefined)[] = [];
    for (const path of ['/day/1', '/ten/years', '/three']) ages.push(/Max-Age=(\d+)/.exec(only(await pay(path)))?.[1]);
    const [day, ...others] = ages.map(Number);
    expect(DAY_MS / 1_000 - (day ?? 0)).toBeLessThan(600);
    expect(others).toEqual([YEAR, YEAR]);
  });

  test('comes with a sign-in as well, and with no token that was shown', async () => {
    const token = (await pay('/three', openCookieJar(url))).headers.get('access-pass') ?? '';
    expect(await get('/three', { headers: { 'access-pass': token } })).toMatchObject({ status: 200 });
    expect(browser.cookies()).toEqual({});
    const own = walletKeyOf(fixture.payer.secretKey.subarray(0, 32));
    expect(await get('/three', { headers: await signIn(own, `${url}/three`) })).toMatchObject({ status: 200 });
    expect(Object.values(browser.cookies())).toEqual(['/three']);
  });

  test('is not there where its seller has not asked for it', async () => {
    const paid = await pay('/plain');
    expect([paid.headers.getSetCookie(), paid.headers.get('vary')]).toEqual([
      [],
      expect.not.stringContaining('Cookie'),
    ]);
  });

  test.each(['/own/after', '/own/before'])('comes beside what the handler of %s sets', async (path) => {
    const paid = await pay(path);
    expect(paid.headers.getSetCookie()).toEqual(['a=1', 'b=2', expect.stringContaining('access-pass-')]);
    expect(await get(path)).toMatchObject({ status: 200, left: '7' });
  });

  describe('is taken back, and the 402 says why,', () => {
    async function expectTaken(path: string, code: string) {
      const answer = await browser.get(path);
      expect(await passAnswer(answer)).toEqual({ status: 402, left: null, code });
      expect([only(answer), browser.cookies()]).toEqual([expect.stringMatching(/=; Path=.*; Max-Age=0; HttpOnly/), {}]);
      expect(await get(path)).toMatchObject({ status: 402, code: 'payment_required' });
    }

    test('when its pass was revoked', async () => {
      await facilitator.passes.revoke(idOf(await pay('/three')));
      await expectTaken('/three', 'pass_revoked');
    });

    test('when its token was withdrawn', async () => {
      await facilitator.passes.withdrawTokens(idOf(await pay('/three')));
      await expectTaken('/three', 'pass_revoked');
    });

    test('when its pass has ended', async () => {
      await pay('/day/1');
      await clock.advance(DAY_MS);
      await expectTaken('/day/1', 'pass_ended');
    });
  });

  test('stays when its pass is used up, since a request under way may give its use back', async () => {
    await pay('/three');
    expect([await get('/three'), await get('/three')]).toMatchObject([{ left: '1' }, { left: '0' }]);
    expect(await get('/three')).toMatchObject({ status: 402, code: 'pass_used_up' });
    expect(Object.values(browser.cookies())).toEqual(['/three']);
    await pay('/three');
    expect(await get('/three')).toMatchObject({ status: 200, left: '1' });
  });

  describe('for a request that changes something', () => {
    test.each<[string, Record<string, string>, boolean]>([
      ['of a page of the site', { 'sec-fetch-site': 'same-origin' }, true],
      ['of a page of the site, by its origin', { origin: 'own' }, true],
      ['of a page of another site', { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' }, false],
      ['of a page of another host of the domain', { 'sec-fetch-site': 'same-site' }, false],
      ['that claims both', { 'sec-fetch-site': 'cross-site', origin: 'own' }, false],
      ['of a page of another site, by its origin', { origin: 'https://evil.example' }, false],
      ['of a page without an origin', { origin: 'null' }, false],
      ['that says nothing', {}, false],
    ])('%s', async (_what, headers, isTaken) => {
      await pay('/three', browser, { method: 'POST' });
      const own = Object.fromEntries(Object.entries(headers).map(([name, it]) => [name, it === 'own' ? url : it]));
      const answer = await browser.get('/three', { method: 'POST', headers: own });
      const expected = isTaken ? { status: 200, left: '1' } : { status: 402, left: null, code: 'payment_required' };
      expect([await passAnswer(answer), answer.headers.getSetCookie()]).toEqual([expected, []]);
    });
  });
});

test('a cookie that is neither wanted nor not is an error of the seller', () => {
  const facilitator = { openPayment: () => undefined, tokens: [] };
  const options = { facilitator, payTo: 'x', price: '$1', pass: { uses: 3, cookie: 'yes' } };
  expect(() => Reflect.apply(requirePayment, undefined, [options])).toThrow('"pass.cookie" must be true or false');
});
