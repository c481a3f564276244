import type { Request, Response } from 'express';
import jwt from 'jsonwebtoken';
import { createIdentity, type WalletIdentity } from '../../../src/identity/create-identity.js';
import { anyOf } from '../../../src/middleware/gate/any-of.js';
import { requirePayment } from '../../../src/middleware/payment/require-payment.js';
import { paywall } from '../../../src/middleware/paywall/paywall.js';
import { requireTier } from '../../../src/middleware/wallet/require-tier.js';
import { openStorage } from '../../../src/storage/open-storage.js';
import { SECRET } from '../../helpers/fixtures/identity-fixture.js';
import { DAILY_EXPRESSES, openTollFixture, type TollFixture } from '../../helpers/fixtures/toll-fixture.js';
import { buyPass, passAnswer } from '../../helpers/http/passes.js';
import { accessTokenFor, signIn } from '../../helpers/http/sign-in.js';
import { testClock } from '../../helpers/test-clock.js';
import { signPayment, stolenFrom } from '../../helpers/transactions/payments.js';
import { type WalletKey, walletKey, walletKeyOf } from '../../helpers/transactions/wallet-key.js';

const HOUR_MS = 3_600_000;

describe.each(DAILY_EXPRESSES)('the token of a pass, %s', (_name, express) => {
  const clock = testClock();
  let fixture: TollFixture;
  let facilitator: TollFixture['facilitator'];
  let identity: WalletIdentity;
  let url: string;
  let own: WalletKey;
  let served = 0;

  beforeAll(async () => {
    fixture = await openTollFixture();
    const storage = await openStorage('memory:', { now: clock.now });
    facilitator = fixture.facilitatorWith({ storage, now: clock.now });
    identity = createIdentity({ facilitator, jwtSecret: SECRET });
    own = walletKeyOf(fixture.payer.secretKey.subarray(0, 32));
    const sold = { facilitator, payTo: fixture.payTo, price: '$0.50' };
    const uses = (count: number, more = {}) => requirePayment({ ...sold, ...more, pass: { uses: count } });
    const group = requirePayment({ ...sold, pass: { uses: 10, group: 'magazine' } });
    const day = requirePayment({ ...sold, pass: { for: '24h' } });
    const handler = (req: Request, res: Response) => {
      served += 1;
      res.json({ path: req.path, wallet: req.pass?.wallet });
    };
    url = await fixture.serve((app) => {
      app.get('/three', uses(3), handler);
      app.post('/three', uses(3), handler);
      app.get('/before', uses(3, { settle: 'before' }), handler);
      app.get('/other', uses(3), handler);
      app.get('/signed', uses(3, { identity }), handler);
      app.get('/named', uses(3, { baseUrl: 'https://shop.example' }), handler);
      const shop = { uses: 3, group: 'shop' };
      const tenant = { baseUrl: 'https://shop.example', payTo: walletKey('another seller').address };
      app.get('/of-another', requirePayment({ ...sold, ...tenant, pass: shop }), handler);
      app.get('/of-one', requirePayment({ ...sold, baseUrl: tenant.baseUrl, pass: shop }), handler);
      app.get('/renamed', uses(3, { baseUrl: 'https://other.example' }), handler);
      app.get('/day', day, handler);
      app.get(['/essay', '/letter'], group, handler);
      app.get('/archive', group, handler);
      app.get('/twice', uses(9), uses(9), handler);
      app.get('/club', anyOf(requireTier({ facilitator }), uses(3)), handler);
      app.use('/below', uses(9), handler);
      app.use(paywall({ 'GET /map/*': { ...sold, pass: { uses: 9 } } }));
      app.use('/map', handler);
    }, express);
  });
  afterAll(() => fixture.close());
  beforeEach(async () => {
    served = 0;
    for (const { id } of await facilitator.passes.list(own.address)) await facilitator.passes.revoke(id);
  });

  const get = async (path: string, headers: Readonly<Record<string, string>> = {}, method = 'GET') =>
    passAnswer(await fetch(`${url}${path}`, { method, headers }));
  const buy = (path: string, init: RequestInit = {}) => buyPass(fixture, `${url}${path}`, init);
  const idOf = (token: Readonly<Record<string, string>>) =>
    String(jwt.decode(token['access-pass'] ?? '', { json: true })?.jti);

  test('names the wallet, the pass, the route and the end, and a plain fetch uses the pass up with it', async () => {
    const { token, paid } = await buy('/three');
    expect(jwt.decode(token['access-pass'] ?? '', { json: true })).toMatchObject({
      sub: `wallet:${own.address}`,
      jti: expect.stringMatching(/^pas_/),
      routes: ['GET /three'],
      kind: 'uses',
    });
    expect([paid.headers.get('access-pass-remaining'), paid.headers.get('cache-control')]).toEqual(['2', 'private']);
    expect(paid.headers.get('access-control-expose-headers')).toContain('Access-Pass, Access-Pass-Remaining');

    const first = await fetch(`${url}/three`, { headers: token });
    expect(await first.json()).toEqual({ path: '/three', wallet: own.address });
    expect(first.headers.get('cache-control')).toBe('private');
    expect(await get('/three', token, 'HEAD')).toEqual({ status: 200, left: '0' });
    expect(await get('/three', token)).toEqual({ status: 402, left: null, code: 'pass_used_up' });
    expect(await get('/three', {})).toEqual({ status: 402, left: null, code: 'payment_required' });
    expect(served).toBe(3);
  });

  test('lets one of several in that race for the last use', async () => {
    const { token } = await buy('/three');
    await get('/three', token);
    const racing = await Promise.all(Array.from({ length: 5 }, () => get('/three', token)));
    expect(racing.filter(({ status }) => status === 200)).toEqual([{ status: 200, left: '0' }]);
    expect(racing.filter(({ code }) => code === 'pass_used_up')).toHaveLength(4);
  });

  test('is good for any number of requests within the time of its pass, and for none after it', async () => {
    const { token, paid } = await buy('/day');
    expect(Number(paid.headers.get('access-pass-remaining'))).toBeGreaterThanOrEqual(0);
    await clock.advance(24 * HOUR_MS - 1);
    for (let times = 0; times < 3; times += 1) expect(await get('/day', token)).toMatchObject({ status: 200 });
    await clock.advance(1);
    expect(await get('/day', token)).toMatchObject({ status: 402, code: 'pass_ended' });
    const next = await buy('/day', { headers: token });
    expect(await get('/day', next.token)).toMatchObject({ status: 200 });
  });

  test('covers every route of its group', async () => {
    const { token } = await buy('/essay');
    expect([await get('/letter', token), await get('/archive', token)]).toEqual([
      { status: 200, left: '8' },
      { status: 200, left: '7' },
    ]);
    expect(await get('/three', token)).toMatchObject({ status: 402, code: 'pass_of_another_route' });
  });

  test('covers what a table of routes calls one route, and one path where there is none', async () => {
    const { token } = await buy('/map/a');
    expect(await get('/map/b?c=d', token)).toEqual({ status: 200, left: '7' });
    const below = await buy('/below/a');
    expect(await get('/below/a', below.token)).toMatchObject({ status: 200, left: '7' });
    expect(await get('/below/b', below.token)).toMatchObject({ code: 'pass_of_another_route' });
  });

  test('is debited once at two gates that sell the same', async () => {
    const { token, paid } = await buy('/twice');
    expect(paid.headers.get('access-pass-remaining')).toBe('8');
    expect(await get('/twice', token)).toEqual({ status: 200, left: '7' });
    expect(await get('/twice', token)).toEqual({ status: 200, left: '6' });
  });

  test('opens beside other gates, and is told what is wrong with it there', async () => {
    const { token } = await buy('/club');
    expect(await get('/club', token)).toMatchObject({ status: 200, left: '1' });
    expect(await get('/club', { 'access-pass': 'x' })).toMatchObject({ status: 402, code: 'invalid_pass' });
  });

  describe('is refused with the terms, and a code of its own,', () => {
    async function refused(path: string, headers: Readonly<Record<string, string>>, code: string, method = 'GET') {
      served = 0;
      const answer = await fetch(`${url}${path}`, { method, headers });
      expect([await passAnswer(answer.clone()), served]).toEqual([{ status: 402, left: null, code }, 0]);
      expect(answer.headers.get('payment-required')).not.toBeNull();
      return (await answer.json()) as { readonly error: string; readonly detail: string };
    }

    test('where it is none of ours', async () => {
      const { token } = await buy('/three');
      const text = token['access-pass'] ?? '';
      const claims = jwt.decode(text, { complete: true });
      const { kid } = claims?.header ?? {};
      const forged = jwt.sign(claims?.payload ?? {}, 'x'.repeat(32), {
        header: { alg: 'HS256', typ: 'pass+jwt', kid },
      });
      const unsigned = jwt.sign(claims?.payload ?? {}, '', {
        algorithm: 'none',
        header: { alg: 'none', typ: 'pass+jwt', kid },
      });
      const access = (await accessTokenFor(own, identity, url))['authorization']?.slice('Bearer '.length) ?? '';
      for (const wrong of ['', 'x', `${text}x`, forged, unsigned, access, 'x'.repeat(5_000)]) {
        await refused('/three', { 'access-pass': wrong }, 'invalid_pass');
      }
      expect(await get('/three', token)).toMatchObject({ status: 200 });
    });

    test('on another route, and for another method', async () => {
      const { token } = await buy('/three');
      await refused('/other', token, 'pass_of_another_route');
      await refused('/three', token, 'pass_of_another_route', 'POST');
    });

    test('at another site, whatever the client calls it', async () => {
      const { token } = await buy('/named');
      await refused('/renamed', { ...token, host: 'shop.example' }, 'pass_of_another_site');
      await refused('/three', token, 'pass_of_another_site');
      expect(await get('/named', token)).toMatchObject({ status: 200, left: '1' });
    });

    test('of another seller at the same site, though their groups have one name', async () => {
      const { token } = await buy('/of-one');
      await refused('/of-another', token, 'pass_of_another_site');
      expect(await get('/of-one', token)).toMatchObject({ status: 200, left: '1' });
    });

    test('when the pass was revoked', async () => {
      const { token } = await buy('/three');
      await facilitator.passes.revoke(idOf(token));
      await refused('/three', token, 'pass_revoked');
    });

    test('when it was withdrawn, and the wallet gets a new one by signing in', async () => {
      const { token } = await buy('/three');
      await facilitator.passes.withdrawTokens(idOf(token));
      await refused('/three', token, 'pass_revoked');
      const anew = await fetch(`${url}/three`, { headers: await signIn(own, `${url}/three`) });
      const issued = { 'access-pass': anew.headers.get('access-pass') ?? '' };
      expect([anew.status, await get('/three', issued)]).toEqual([200, { status: 200, left: '0' }]);
    });

    test("beside another wallet's sign-in, and not beside that of its own", async () => {
      const { token } = await buy('/three');
      const [thief, owner] = [await signIn(walletKey('thief'), `${url}/three`), await signIn(own, `${url}/three`)];
      await refused('/three', { ...token, ...thief }, 'pass_of_another_wallet');
      expect(await get('/three', { ...token, ...owner })).toMatchObject({ status: 200, left: '1' });
    });
  });

  describe('a wallet that signs in', () => {
    test('with no pass that is good is asked to pay', async () => {
      await buy('/three');
      const stranger = await signIn(walletKey('stranger'), `${url}/three`);
      expect(await get('/three', stranger)).toEqual({ status: 402, left: null, code: 'payment_required' });
    });

    test('once more with the same signature is refused', async () => {
      await buy('/three');
      const headers = await signIn(own, `${url}/three`);
      expect(await get('/three', headers)).toMatchObject({ status: 200 });
      const replayed = await fetch(`${url}/three`, { headers });
      expect([replayed.status, await replayed.json()]).toEqual([
        402,
        expect.objectContaining({ code: 'pass_sign_in_refused', error: 'sign_in_replayed' }),
      ]);
    });

    test('comes in with an access token as well, where the identity that issues them is given', async () => {
      const { token } = await buy('/signed');
      const bearer = await accessTokenFor(own, identity, url);
      expect(await get('/signed', bearer)).toMatchObject({ status: 200, left: '1' });
      expect(await get('/signed', token)).toMatchObject({ status: 200, left: '0' });
      expect(await get('/signed', bearer)).toMatchObject({ status: 402, code: 'pass_used_up' });
    });

    test('uses the pass first that ends first, and the next one then', async () => {
      const [one, two] = [await buy('/other'), await buy('/other')];
      const lefts: (string | null)[] = [];
      for (let times = 0; times < 4; times += 1) {
        lefts.push((await get('/other', await signIn(own, `${url}/other`))).left);
      }
      expect(lefts.sort()).toEqual(['0', '0', '1', '1']);
      expect([await get('/other', one.token), await get('/other', two.token)]).toEqual(
        Array(2).fill({ status: 402, left: null, code: 'pass_used_up' }),
      );
    });
  });

  describe('a landed payment', () => {
    const passesOfPayer = () => facilitator.passes.list(own.address);

    test('that is sent once more has its response and its one pass again', async () => {
      const before = (await passesOfPayer()).length;
      const { payment, token } = await buy('/three');
      await get('/three', token);
      const again = await fetch(`${url}/three`, { headers: payment.v2 });
      expect([again.status, again.headers.get('access-pass-remaining')]).toEqual([200, '1']);
      expect(again.headers.get('access-pass')).not.toBeNull();
      expect(await passesOfPayer()).toHaveLength(before + 1);
    });

    test('that a stranger takes from the chain opens no pass', async () => {
      const { payment } = await buy('/three');
      const before = await passesOfPayer();
      const theft = await stolenFrom(payment, `${url}/three`);
      const answer = await fetch(`${url}/three`, { headers: theft.v2 });
      expect([answer.headers.get('access-pass'), await passAnswer(answer)]).toEqual([
        null,
        { status: 402, left: null, code: 'payment_already_used' },
      ]);
      expect(await passesOfPayer()).toEqual(before);
    });

    test.each(['/three', '/before'])(
      'whose payer is known by his address alone has its response of %s again, and no token',
      async (path) => {
        const { v1 } = await signPayment(fixture, url + path);
        const paid = await fetch(url + path, { headers: v1 });
        const token = { 'access-pass': paid.headers.get('access-pass') ?? '' };
        expect([paid.status, await get(path, token)]).toEqual([200, { status: 200, left: '1' }]);
        const again = await fetch(url + path, { headers: v1 });
        expect([again.status, again.headers.get('access-pass')]).toEqual([200, null]);
        expect(again.headers.get('access-pass-remaining')).toBe('1');
      },
    );
  });

  test('of a cheap path that reads like the pattern of a dear route opens that route not', async () => {
    const sold = { facilitator, payTo: fixture.payTo, pass: { uses: 5 } };
    const shop = await fixture.serve((app) => {
      const dear = requirePayment({ ...sold, price: '$1' });
      for (const route of [['/gold', '/golden'], /^\/secret\/\d+$/, ['/plain']]) {
        app.get(route, dear, (_req, res) => void res.send('dear'));
      }
      app.use(requirePayment({ ...sold, price: '$0.01' }), (_req, res) => void res.send('cheap'));
    }, express);
    for (const [asked, route] of [
      ['/gold,/golden', '/gold'],
      ['/[/gold%20/golden]', '/gold'],
      ['/^\\/secret\\/\\d+$/', '/secret/7'],
      ['/route/plain', '/plain'],
    ] as const) {
      const { token, paid } = await buyPass(fixture, shop + asked);
      expect(await paid.text()).toBe('cheap');
      const answer = await passAnswer(await fetch(shop + route, { headers: token }));
      expect(answer).toMatchObject({ status: 402, code: 'pass_of_another_route' });
    }
    const { token } = await buyPass(fixture, `${shop}/gold`);
    expect((await fetch(`${shop}/golden`, { headers: token })).status).toBe(200);
  });
});
