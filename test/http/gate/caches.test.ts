import type { Express, Request, RequestHandler } from 'express';
import { createIdentity, type WalletIdentity } from '../../../src/identity/create-identity.js';
import type { Identity } from '../../../src/identity/types.js';
import { anyOf } from '../../../src/middleware/gate/any-of.js';
import { requirePayment } from '../../../src/middleware/payment/require-payment.js';
import { readTier } from '../../../src/middleware/wallet/read-tier.js';
import { requireTokenBalance } from '../../../src/middleware/wallet/require-token-balance.js';
import { SECRET } from '../../helpers/fixtures/identity-fixture.js';
import { EXPRESSES, openTollFixture, type TollFixture } from '../../helpers/fixtures/toll-fixture.js';
import { type CacheKind, type CacheServer, startCache } from '../../helpers/http/shared-cache.js';
import { accessTokenFor, signIn } from '../../helpers/http/sign-in.js';
import { signPayment } from '../../helpers/transactions/payments.js';
import { walletKey } from '../../helpers/transactions/wallet-key.js';

/** A cache that heeds one field before `Cache-Control`, and what a handler says to it: keep this for an hour. */
const CACHES: readonly (readonly [field: string, value: string])[] = [
  ['Cache-Control', 'public, max-age=3600'],
  ['Cache-Control', 'no-store, must-understand, max-age=3600'],
  ['CDN-Cache-Control', 'max-age=3600'],
  ['Cloudflare-CDN-Cache-Control', 'max-age=3600'],
  ['Vercel-CDN-Cache-Control', 'max-age=3600'],
  ['Netlify-CDN-Cache-Control', 'public, max-age=3600'],
  ['Akamai-Cache-Control', 'max-age=3600'],
  ['X-LiteSpeed-Cache-Control', 'public,max-age=3600'],
  ['Surrogate-Control', 'max-age=3600'],
  ['Fastly-Surrogate-Control', 'max-age=3600'],
  ['Edge-Control', 'cache-maxage=3600'],
  ['X-Accel-Expires', '3600'],
];
const EVERYTHING = Object.fromEntries(CACHES);
const FOREIGN_COOKIE = 'session=mine';

describe.each(EXPRESSES)('a response behind a gate, %s', (_name, express) => {
  let fixture: TollFixture;
  let url: string;
  let identity: WalletIdentity;
  const caches: CacheServer[] = [];

  beforeAll(async () => {
    fixture = await openTollFixture();
    url = await fixture.serve(mount, express);
  });
  afterEach(async () => {
    for (const cache of caches.splice(0)) await cache.close();
  });
  afterAll(() => fixture.close());

  /** Says to every cache what the address asks for: in the query the names of fields, and their values. */
  const say: RequestHandler = (req, res) => {
    res.set(req.query as Record<string, string>);
    res.status(Number(req.get('x-status') ?? 200)).send(req.headers['x-who'] ?? 'the goods');
  };

  /** An identity of somebody else, by a cookie. */
  const byCookie: Identity = {
    prove: (request) =>
      request.header('cookie') === FOREIGN_COOKIE
        ? { status: 'proven', wallet: { address: walletKey('alice').address, by: 'jwt', scopes: [] } }
        : { status: 'absent' },
    challenge: async () => ({ extensions: {} }),
  };

  function mount(app: Express): void {
    const { facilitator, payTo } = fixture;
    const price = { facilitator, payTo, price: '$0.01' };
    const holders = { facilitator, mint: 'USDC', minBalance: 0 };
    app.get('/free', say);
    app.get('/paid', requirePayment(price), say);
    app.get('/first', requirePayment({ ...price, settle: 'before' }), say);
    app.get('/club', requireTokenBalance(holders), say);
    app.get('/mine', requireTokenBalance({ ...holders, identity: byCookie }), say);
    app.get('/either', anyOf(requireTokenBalance(holders), requirePayment(price)), say);
    app.get('/tier', readTier({ facilitator }), requirePayment(price), say);
    identity = createIdentity({ facilitator, jwtSecret: SECRET });
    const tiers = { mint: 'USDC', levels: [{ id: 'any', minBalance: 0 }] };
    const tellTier = ({ tier }: Request) => `the page of ${tier?.id ?? 'strangers'}`;
    app.get('/set', readTier({ facilitator, identity, tiers }), (req, res) => {
      res.set(req.query as Record<string, string>).send(tellTier(req));
    });
    app.get('/written', readTier({ facilitator, identity, tiers }), (req, res) => {
      res.writeHead(200, req.query as Record<string, string>).end(tellTier(req));
    });
    app.use('/cached', (_req, res, next) => {
      res.set(EVERYTHING);
      next();
    });
    app.get('/cached', requirePayment(price), say);
  }

  async function cacheOf(kind: CacheKind): Promise<CacheServer> {
    const cache = await startCache(url, kind);
    caches.push(cache);
    return cache;
  }

  const pathOf = (path: string, said: Readonly<Record<string, string>>) => `${path}?${new URLSearchParams(said)}`;
  const payFor = async (path: string) => (await signPayment(fixture, url + path)).v2;
  const proofFor = (path: string) => signIn(walletKey('alice'), url + path);
  const member = () => accessTokenFor(walletKey('alice'), identity, url);
  const doors: [string, (path: string) => Promise<Readonly<Record<string, string>>>, number][] = [
    ['/paid', payFor, 402],
    ['/first', payFor, 402],
    ['/either', payFor, 402],
    ['/either', proofFor, 402],
    ['/tier', payFor, 402],
    ['/club', proofFor, 402],
    ['/mine', async () => ({ cookie: FOREIGN_COOKIE }), 402],
  ];

  test.each(CACHES)(
    'is not given to strangers by a cache that heeds "%s: %s"; one without a gate is',
    async (field, value) => {
      const { url, hits } = await cacheOf({
        targeted: field === 'Cache-Control' ? [] : [field.toLowerCase()],
        ignoresVary: true,
      });
      const said = { 'Cache-Control': 'max-age=60', [field]: value };
      for (const [path, enter, refusal] of doors) {
        const goods = pathOf(path, said);
        const headers = await enter(goods);
        expect((await fetch(url + goods, { headers })).status).toBe(200);
        expect([path, (await fetch(url + goods)).status]).toEqual([path, refusal]);
      }
      expect(hits()).toBe(0);

      for (const _time of [1, 2]) expect((await fetch(url + pathOf('/free', said))).status).toBe(200);
      expect(hits()).toBe(1);
    },
  );

  test('names in "Vary" all that decided about it, so that its caller\'s own cache gives it to the same caller only', async () => {
    const { url, hits } = await cacheOf({ targeted: [], isPrivate: true });
    const said = { 'Cache-Control': 'max-age=60', Vary: 'Accept-Language' };
    for (const [path, enter, refusal] of doors) {
      const goods = pathOf(path, said);
      const headers = await enter(goods);
      const [first, stranger, again] = [
        await fetch(url + goods, { headers }),
        await fetch(url + goods),
        await fetch(url + goods, { headers }),
      ];
      const seen = [first, stranger, again].map(({ status, headers }) => [status, headers.get('age')]);
      expect([path, ...seen]).toEqual([path, [200, null], [refusal, null], [200, '1']]);
    }
    expect(hits()).toBe(doors.length);
  });

  test.each([
    ['/paid', 'payment-signature, x-payment, access-pass, sign-in-with-x, authorization, accept-language'],
    ['/first', 'payment-signature, x-payment, access-pass, sign-in-with-x, authorization, accept-language'],
    ['/club', 'authorization, sign-in-with-x, accept-language'],
    ['/mine', 'authorization, sign-in-with-x, cookie, accept-language'],
    ['/either', 'authorization, sign-in-with-x, payment-signature, x-payment, access-pass, accept-language'],
  ])('of %s varies by %s, whatever its handler writes there', async (path, names) => {
    const enter = doors.find(([door]) => door === path)?.[1];
    const goods = pathOf(path, { Vary: 'Accept-Language' });
    const answer = await fetch(url + goods, { headers: (await enter?.(goods)) ?? {} });
    expect((answer.headers.get('vary') ?? '').toLowerCase().split(', ').sort()).toEqual(names.split(', ').sort());
  });

  describe.each(['/set', '/written'])('that is for strangers, at %s', (path) => {
    test('is kept for strangers by a cache that heeds "Vary", whatever its handler says there, and given to no member', async () => {
      const { url, hits } = await cacheOf({ targeted: [] });
      const page = pathOf(path, { 'Cache-Control': 'public, max-age=60', Vary: 'Accept-Encoding' });
      const read = async (headers = {}) => (await fetch(url + page, { headers })).text();
      expect([await read(), await read(await member())]).toEqual(['the page of strangers', 'the page of any']);
      expect([await read(), await read(await member())]).toEqual(['the page of strangers', 'the page of any']);
      expect(hits()).toBe(1);
    });

    test.each(CACHES.filter(([field]) => field !== 'Cache-Control'))(
      'is not given to members by a cache that heeds "%s: %s" and no "Vary"',
      async (field, value) => {
        const { url } = await cacheOf({ targeted: [field.toLowerCase()], ignoresVary: true });
        const page = pathOf(path, { 'Cache-Control': 'private', [field]: value });
        expect(await (await fetch(url + page)).text()).toBe('the page of strangers');
        const asMember = await fetch(url + page, { headers: await member() });
        expect(await asMember.text()).toBe('the page of any');
      },
    );
  });

  test('that is not charged is not kept by a cache either, and the next one pays', async () => {
    const { url } = await cacheOf({ targeted: ['cdn-cache-control'], ignoresVary: true });
    const goods = pathOf('/paid', EVERYTHING);
    const headers = await payFor(goods);
    expect((await fetch(url + goods, { headers: { ...headers, 'x-status': '404' } })).status).toBe(404);
    expect((await fetch(url + goods)).status).toBe(402);
    expect((await fetch(url + goods, { headers })).status).toBe(200);
  });

  test('that is given again is private as it was the first time', async () => {
    const { url, hits } = await cacheOf({ targeted: ['surrogate-control'], ignoresVary: true });
    for (const path of ['/paid', '/first']) {
      const goods = pathOf(path, EVERYTHING);
      const headers = await payFor(goods);
      for (const replayed of [null, 'true']) {
        const answer = await fetch(url + goods, { headers });
        expect([answer.status, answer.headers.get('idempotency-replayed')]).toEqual([200, replayed]);
      }
      expect((await fetch(url + goods)).status).toBe(402);
    }
    expect(hits()).toBe(0);
  });

  test('keeps the "no-store" of its handler, and fields that keep nothing', async () => {
    const goods = pathOf('/paid', { 'Cache-Control': 'no-store', 'Surrogate-Key': 'a', 'Cache-Tag': 'b' });
    const { headers } = await fetch(url + goods, { headers: await payFor(goods) });
    expect(['cache-control', 'surrogate-key', 'cache-tag'].map((name) => headers.get(name))).toEqual([
      'no-store',
      'a',
      'b',
    ]);
  });

  test('a 402 is kept by no cache, whatever the app has told them before the gate', async () => {
    const { url, hits } = await cacheOf({ targeted: CACHES.map(([field]) => field.toLowerCase()) });
    const nonces = new Set<string | null>();
    for (const _time of [1, 2]) {
      const answer = await fetch(`${url}/cached`);
      expect([answer.status, answer.headers.get('cache-control')]).toEqual([402, 'no-store']);
      nonces.add(answer.headers.get('payment-required'));
    }
    expect([nonces.size, hits()]).toEqual([2, 0]);
    expect((await fetch(`${url}/cached`, { headers: await payFor('/cached') })).status).toBe(200);
  });
});
