import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import type { RequestHandler } from 'express';
import { createAuthRouter } from '../../../src/http/auth/auth-router.js';
import { createIdentity, type WalletIdentity } from '../../../src/identity/create-identity.js';
import type { IdentityOptions } from '../../../src/identity/identity-options.js';
import { anyOf } from '../../../src/middleware/gate/any-of.js';
import { requirePayment } from '../../../src/middleware/payment/require-payment.js';
import { requireTokenBalance } from '../../../src/middleware/wallet/require-token-balance.js';
import { createMemoryCounters } from '../../../src/storage/counters/memory-counters.js';
import { SECRET } from '../../helpers/fixtures/identity-fixture.js';
import { DAILY_EXPRESSES, openTollFixture, type TollFixture } from '../../helpers/fixtures/toll-fixture.js';
import { accessTokenFor, askChallenge, type ProofHeaders, signIn } from '../../helpers/http/sign-in.js';
import { signInHeader, signInInfo, walletKey } from '../../helpers/transactions/wallet-key.js';

const alice = walletKey('alice');
const SHOP = 'https://shop.example';
const BLOG = 'https://blog.example';
const LONG = `/long/${'a'.repeat(3_000)}`;

/** A request whose target and `Host` are sent as they are, which `fetch` would tidy up. */
async function statusOfRaw(url: string, path: string, headers: ProofHeaders): Promise<number | undefined> {
  const sent = request(url, { path, headers, agent: false }).end();
  const [answer]: IncomingMessage[] = await once(sent, 'response');
  answer?.resume();
  return answer?.statusCode;
}

const tell: RequestHandler = (req, res) => void res.json({ wallet: req.wallet?.address });

describe.each(DAILY_EXPRESSES)('what a wallet has signed is good for, %s', (_name, express) => {
  let fixture: TollFixture;

  beforeAll(async () => {
    fixture = await openTollFixture();
  });
  afterAll(() => fixture.close());

  const gate = (options: object = {}) =>
    requireTokenBalance({ facilitator: fixture.facilitator, mint: 'USDC', minBalance: 0, ...options });
  const identityWith = (options: Partial<IdentityOptions> = {}) =>
    createIdentity({ network: 'solana-devnet', jwtSecret: SECRET, ...options });
  const statusOf = async (url: string, headers: ProofHeaders, method = 'GET') =>
    (await fetch(url, { method, headers })).status;

  describe('one path and one method', () => {
    let url: string;

    beforeAll(async () => {
      url = await fixture.serve((app) => {
        app.use('/admin', gate(), tell);
        app.all(['/', '/a', '/b', '/long/:name'], gate(), tell);
        app.all('/anywhere', gate({ scope: 'site' }), tell);
        app.all('/elsewhere', gate({ scope: 'site' }), tell);
        app.all('/both', gate(), gate({ scope: 'site' }), tell);
        app.all('/either', anyOf(gate(), gate({ scope: 'site' })), tell);
      }, express);
    });

    test('as the challenge names them, with a query or without, also where the path is too long to be named', async () => {
      expect(signInInfo(await askChallenge(`${url}/a?x=1`))).toMatchObject({ uri: `${url}/a`, requestId: 'GET' });
      expect(signInInfo(await askChallenge(`${url}/a`, { method: 'DELETE' }))).toMatchObject({ requestId: 'DELETE' });
      for (const path of ['/', '/a', '/admin/users', LONG]) {
        expect(await statusOf(`${url}${path}`, await signIn(alice, url + path))).toBe(200);
      }
      expect(await statusOf(`${url}/a?x=2`, await signIn(alice, `${url}/a?x=1`))).toBe(200);
      expect(await statusOf(`${url}/a`, await signIn(alice, `${url}/a`), 'HEAD')).toBe(200);
    });

    test('and for no other path, nor another method', async () => {
      const proof = await signIn(alice, `${url}/a`);
      for (const path of ['/', '/b', '/a/', '/A', LONG]) expect(await statusOf(url + path, proof)).not.toBe(200);
      for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS'])
        expect(await statusOf(`${url}/a`, proof, method)).toBe(401);
      expect(await statusOf(`${url}/b`, await signIn(alice, `${url}/`))).toBe(401);
      expect(await statusOf(`${url}${LONG}b`, await signIn(alice, url + LONG))).toBe(401);
      expect(await statusOf(url + LONG, await signIn(alice, url + LONG, { method: 'POST' }))).toBe(401);
      expect(await statusOf(`${url}/a`, proof)).toBe(200);
    });

    test.each([
      '/admin/../a',
      '/admin/./../a',
      '/admin/%2e%2e/a',
      '/admin/%2E./a',
      '/admin\\..\\..\\a',
      '/admin//../../a',
      'http://host/admin/../a',
    ])('and not for %s, whatever that becomes', async (target) => {
      const proof = await signIn(alice, `${url}/a`);
      expect(await statusOfRaw(url, target, proof)).not.toBe(200);
      expect(await statusOfRaw(url, '/a', proof)).toBe(200);
    });

    test('what another request id was signed over than the method’s, or none, is good for nothing', async () => {
      const info = signInInfo(await askChallenge(`${url}/a`));
      const { requestId: _, ...without } = info;
      for (const changed of [
        without,
        { ...info, requestId: 'DELETE' },
        { ...info, uri: `${url}/`, requestId: 'GET' },
      ]) {
        expect(await statusOf(`${url}/a`, { 'sign-in-with-x': signInHeader(alice, changed) })).toBe(401);
      }
      expect(await statusOf(`${url}/a`, { 'sign-in-with-x': signInHeader(alice, info) })).toBe(200);
    });

    test('where a gate takes one for the site, each of them opens every such gate, once, and no other', async () => {
      expect(signInInfo(await askChallenge(`${url}/anywhere`))).toMatchObject({ uri: `${url}/` });
      const proof = await signIn(alice, `${url}/anywhere`);
      for (const path of ['/', '/a', '/admin', '/both']) expect(await statusOf(url + path, proof)).toBe(401);
      expect(await statusOf(`${url}/elsewhere`, proof, 'POST')).toBe(200);
      expect(await statusOf(`${url}/anywhere`, proof)).toBe(401);
      expect(await statusOf(`${url}/either`, await signIn(alice, `${url}/anywhere`))).toBe(200);
    });

    test('one for the request is good at a gate for the site on its way, and is what both are asked with', async () => {
      for (const path of ['/both', '/either']) {
        expect(signInInfo(await askChallenge(url + path, { method: 'PUT' })).requestId).toBe('PUT');
        const proof = await signIn(alice, url + path, { method: 'PUT' });
        expect(await statusOf(url + path, proof, 'GET')).toBe(401);
        expect(await statusOf(url + path, proof, 'PUT')).toBe(200);
      }
    });
  });

  test('beside a payment: the proof of a path opens that one alone, and strangers pay on', async () => {
    const { facilitator, payTo } = fixture;
    const url = await fixture.serve((app) => {
      const either = anyOf(gate(), requirePayment({ facilitator, payTo, price: '$0.01' }));
      app.all(['/a', '/b'], either, tell);
    }, express);
    const proof = await signIn(alice, `${url}/a`);
    expect(await statusOf(`${url}/b`, proof)).toBe(401);
    expect(await statusOf(`${url}/a`, proof, 'POST')).toBe(401);
    expect(await statusOf(`${url}/b`, {})).toBe(402);
    expect(await statusOf(`${url}/a`, proof)).toBe(200);
  });

  test('one identity: of three in an app a proof opens the gate of the one that has asked for it', async () => {
    for (const counters of [undefined, createMemoryCounters()]) {
      const identities = [1, 2, 3].map(() => identityWith(counters === undefined ? {} : { counters }));
      const url = await fixture.serve((app) => {
        for (const [at, identity] of identities.entries()) app.get('/club', skipUnless(at), gate({ identity }), tell);
      }, express);
      const proof = await signIn(alice, `${url}/club`, { headers: { 'x-gate': '0' } });
      const opened = [];
      for (const at of [0, 1, 2]) opened.push(await statusOf(`${url}/club`, { ...proof, 'x-gate': String(at) }));
      expect(opened).toEqual([200, 401, 401]);
    }
  });

  describe('one site and one network, where it is an access token', () => {
    const serve = (identity: WalletIdentity, more: object = {}, router: object = {}) =>
      fixture.serve((app) => {
        app.get('/club', gate({ identity, ...more }), tell);
        app.use(createAuthRouter({ identity, ...router }));
      }, express);

    test('of two with one secret neither takes the tokens of the other, by whatever they are told their names', async () => {
      const counters = createMemoryCounters();
      for (const shared of [{}, { counters }]) {
        const [one, two] = [identityWith(shared), identityWith(shared)];
        const [there, here] = await Promise.all([serve(one), serve(two)]);
        const token = await accessTokenFor(alice, one, `${there}/club`);
        expect([await statusOf(`${there}/club`, token), await statusOf(`${here}/club`, token)]).toEqual([200, 401]);

        const [shop, blog] = [identityWith({ ...shared, domain: 'shop.example' }), identityWith(shared)];
        const [shopUrl, blogUrl] = await Promise.all([serve(shop), serve(blog, { baseUrl: BLOG })]);
        const ofShop = await accessTokenFor(alice, shop, `${SHOP}/club`);
        expect([await statusOf(`${shopUrl}/club`, ofShop), await statusOf(`${blogUrl}/club`, ofShop)]).toEqual([
          200, 401,
        ]);
      }
    });

    test('where both name one audience each takes those of the other', async () => {
      const [one, two] = [identityWith({ audience: 'our sites' }), identityWith({ audience: 'our sites' })];
      const [there, here] = await Promise.all([serve(one), serve(two)]);
      const token = await accessTokenFor(alice, one, `${there}/club`);
      expect([await statusOf(`${there}/club`, token), await statusOf(`${here}/club`, token)]).toEqual([200, 200]);
    });

    test('a token, or a session, of another network opens nothing, even where secret, name and store are the same', async () => {
      const shared = { counters: createMemoryCounters(), domain: 'shop.example' };
      const [devnet, live] = [identityWith(shared), identityWith({ ...shared, network: 'solana' })];
      const [devnetUrl, liveUrl] = await Promise.all([serve(devnet), serve(live)]);
      const { message, nonce } = await devnet.issueChallenge(alice.address, `${SHOP}/club`);
      const grant = await devnet.exchange({ wallet: alice.address, nonce, signature: alice.sign(message) });
      const token = { authorization: `Bearer ${grant.accessToken}` };
      expect([await statusOf(`${devnetUrl}/club`, token), await statusOf(`${liveUrl}/club`, token)]).toEqual([
        200, 401,
      ]);
      await expect(live.refresh(grant.refreshToken)).rejects.toMatchObject({ code: 'invalid_refresh_token' });
      const renewed = await devnet.refresh(grant.refreshToken);
      const again = { authorization: `Bearer ${renewed.accessToken}` };
      expect([await statusOf(`${devnetUrl}/club`, again), await statusOf(`${liveUrl}/club`, again)]).toEqual([
        200, 401,
      ]);
    });

    test('a gate that was not told its name has that of the router with the same identity', async () => {
      const identity = identityWith();
      const url = await serve(identity, {}, { baseUrl: SHOP });
      const token = await accessTokenFor(alice, identity, `${SHOP}/club`, SHOP);
      const atShop = { ...token, host: 'shop.example' };
      expect(await statusOfRaw(url, '/club', atShop)).toBe(200);
      expect(signInInfo(await askChallenge(`${url}/club`)).uri).toBe(`${SHOP}/club`);

      const nameless = identityWith();
      const other = await serve(nameless);
      expect(await statusOfRaw(other, '/club', atShop)).toBe(501);
    });
  });
});

/** Which of several gates on one path a request meets. */
function skipUnless(at: number): RequestHandler {
  return (req, _res, next) => (req.get('x-gate') === String(at) ? next() : next('route'));
}
