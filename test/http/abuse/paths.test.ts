import type { Request, Response as ServerAnswer } from 'express';
import { createIdentity, type WalletIdentity } from '../../../src/identity/create-identity.js';
import { requirePayment } from '../../../src/middleware/payment/require-payment.js';
import { requireTokenBalance } from '../../../src/middleware/wallet/require-token-balance.js';
import { SANDBOX_TOKENS } from '../../../src/protocol/networks/tokens.js';
import { DAILY_EXPRESSES, openTollFixture, type TollFixture } from '../../helpers/fixtures/toll-fixture.js';
import { ask, linesOf } from '../../helpers/http/raw-http.js';
import { signPayment } from '../../helpers/transactions/payments.js';
import { signInHeader, signInInfo, walletKey } from '../../helpers/transactions/wallet-key.js';

const [{ mint: USDC } = { mint: '' }] = SANDBOX_TOKENS;
const PRICE = 10_000n;
const METHODS = [
  'GET',
  'HEAD',
  'OPTIONS',
  'TRACE',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'PROPFIND',
  'QUERY',
  'get',
  'Post',
];
const ROUTES = ['/report', '/any', '/mounted', '/mounted/below', '/outer/inner/deep', '/guarded/a', '/items/7', '/'];

/** Ways to write `/report` or `/guarded/a` that some server or proxy takes for the same. */
const SPELLINGS = ['/report', '/guarded/a'].flatMap((path) => [
  ...['/', '//', '/.', '/..', '%2f', '%5c', '%00', '%20', ';', ';a=b', '.json', '.', '#top', '?x', '%3fx', '%23'].map(
    (end) => path + end,
  ),
  ...[
    '/',
    '/.',
    '/./',
    '/x/..',
    '/x/%2e%2e',
    '/x/%252e%252e',
    '/%2e',
    '/;',
    '/..;',
    '\\',
    '/%2f',
    '/%5c',
    '/public/..',
  ].map((start) => start + path),
  ...[path.toUpperCase(), `${path.slice(0, 2)}%${path.charCodeAt(2).toString(16)}${path.slice(3)}`],
  ...['%c1%a5', '%c0%af', '%e0%80%af', '%u0065', '%ff', '%', '%2', '\xc1\xa5'].map((odd) => path + odd),
  ...['http://other.example', 'https://user@other.example:1', 'munity://x', 'http://'].map((origin) => origin + path),
  ...['*', `*${path}`, path.slice(1), `@other.example${path}`, `?${path}`],
]);

describe.each(DAILY_EXPRESSES)('however a route is asked for, %s', (_name, express) => {
  let fixture: TollFixture;
  let url: string;
  let runs: string[] = [];
  let fails = false;

  let identity: WalletIdentity;

  const serve = (req: Request, res: ServerAnswer): void => {
    runs.push(`${req.method} ${req.baseUrl}${req.path} ${req.payment?.payer}`);
    res.status(fails ? 500 : 200).json({ served: req.originalUrl });
  };

  beforeAll(async () => {
    fixture = await openTollFixture({ maxBlockhashAgeBlocks: 5_000 });
    const { facilitator, payTo } = fixture;
    const options = { facilitator, payTo, price: '$0.01' };
    const gate = requirePayment(options);
    identity = createIdentity({ network: facilitator.network });
    url = await fixture.serve((app) => {
      app.get('/free', (_req, res) => void res.send('free'));
      app.get('/report', gate, serve);
      app.all('/any', gate, serve);
      app.use('/mounted', gate, serve);
      const inner = express.Router().use(gate).all('/deep', serve);
      app.use('/outer', express.Router().use('/inner', inner));
      app.use('/guarded', gate);
      app.all('/guarded/a', serve);
      app.get('/items/:id', gate, serve);
      const first = requirePayment({ ...options, settle: 'before' });
      app.get(['/first', '/other'], first, serve);
      app.get('/shop', requirePayment({ ...options, baseUrl: 'https://shop.com' }), serve);
      const club = { facilitator, identity, mint: USDC, minBalance: 0, baseUrl: 'https://shop.com' };
      app.get('/club', requireTokenBalance(club), serve);
      app.all('/', gate, serve);
    }, express);
  });
  afterAll(() => fixture.close());
  beforeEach(() => {
    runs = [];
    fails = false;
  });

  const spent = (): bigint => 1_000_000_000n - fixture.sandbox.tokenBalance(fixture.payer.publicKey.toBase58(), USDC);
  const payer = () => fixture.payer.publicKey.toBase58();

  test('no spelling of it lets anybody in who has not paid', async () => {
    const answers = await Promise.all(SPELLINGS.map(async (it) => [it, (await ask(url, `GET ${it}`)).status] as const));

    expect(runs).toEqual([]);
    expect(answers.filter(([, status]) => ![400, 402, 404].includes(status))).toEqual([]);
  });

  test.each(METHODS)('nor does %s, on a route, an app or a router', async (method) => {
    const asked = ['', 'X-HTTP-Method-Override: GET', 'Access-Control-Request-Method: GET'].flatMap((line) =>
      ROUTES.map((path) => ask(url, `${method} ${path}`, line === '' ? [] : [line])),
    );
    const answers = await Promise.all(asked);

    expect(runs).toEqual([]);
    // Express itself tells the methods of a route (200), and a gate answers preflights (204).
    const welcome = method === 'OPTIONS' ? [200, 204, 402] : [400, 402, 404];
    expect(answers.filter(({ status }) => !welcome.includes(status))).toEqual([]);
    for (const { body } of answers) expect(body).not.toContain('served');
  });

  test.each(['X-Original-URL', 'X-Rewrite-URL', 'X-Original-URI', 'X-Forwarded-URI', 'X-HTTP-Path-Override'])(
    '%s leads nowhere else',
    async (name) => {
      const [there, back] = [
        await ask(url, 'GET /free', [`${name}: /report`]),
        await ask(url, 'GET /report', [`${name}: /free`]),
      ];

      expect([there.status, there.body, back.status]).toEqual([200, 'free', 402]);
      expect(runs).toEqual([]);
    },
  );

  test.each([
    '/report/',
    '/REPORT',
    '/report?x=1',
    '/report#top',
    'http://other.example/report',
    'munity://x/report?y',
  ])('a payment that was used on GET %s is used up for the route', async (spelling) => {
    const before = spent();
    const headers = linesOf((await signPayment(fixture, `${url}/report`)).v2);
    const first = await ask(url, `GET ${spelling}`, headers);
    const again = await Promise.all(
      ['/report', spelling, '/any', '/mounted'].map((it) => ask(url, `GET ${it}`, headers)),
    );
    const replayed = again.map((it) => it.headers.get('idempotency-replayed'));

    expect(first.status).toBe(200);
    expect(again.map(({ status }) => status)).toEqual([402, 200, 402, 402]);
    expect([again[1]?.body, replayed]).toEqual([first.body, [null, 'true', null, null]]);
    expect(runs).toHaveLength(1);
    expect(runs[0]).toContain(payer());
    expect(spent() - before).toBe(PRICE);
  });

  test('a payment whose answer failed stays good for what it was made for, however others are dressed up', async () => {
    const before = spent();
    const headers = linesOf((await signPayment(fixture, `${url}/first`)).v2);
    fails = true;
    const failed = await ask(url, 'GET /first', headers);
    fails = false;
    const disguises = [
      ['GET /other', 'X-Original-URL: /first'],
      ['GET /other#/first', 'X-Rewrite-URL: /first'],
      ['GET /other?/first', 'Referer: /first'],
      ['GET http://x/first/../other', 'Host: x'],
      ['GET /report', 'X-Forwarded-Prefix: /first'],
      ['HEAD /first', 'X-HTTP-Method-Override: GET'],
      ['POST /any', 'X-HTTP-Method: GET'],
    ].map(([line = '', more = '']) => ask(url, line, [...headers, more]));
    const others = await Promise.all(disguises);
    const own = await ask(url, 'GET /first', headers);

    expect(failed.status).toBe(500);
    for (const { status } of others) expect([402, 404]).toContain(status);
    expect(own.status).toBe(200);
    expect(runs).toEqual([`GET /first ${payer()}`, `GET /first ${payer()}`]);
    expect(spent() - before).toBe(PRICE);
  });

  test.each([
    ['/shop', '/shop'],
    ['/shop?x=1', '/shop?x=1'],
    ['munity://x/shop', '/shop'],
    ['http://evil.example/shop?x=1', '/shop?x=1'],
  ])('%s is offered under our own address', async (target, path) => {
    const { status, body } = await ask(url, `GET ${target}`);

    expect(status).toBe(402);
    expect(JSON.parse(body)).toMatchObject({ accepts: [{ resource: `https://shop.com${path}` }] });
  });

  test('a sign-in at a site whose name begins like ours opens nothing here', async () => {
    const wallet = walletKey('visitor of another site');
    const signedFor = async (site: string) => {
      const challenge = await identity.challenge({
        ...{ url: `${site}/club`, method: 'GET', baseUrl: site },
        header: () => undefined,
      });
      return [`SIGN-IN-WITH-X: ${signInHeader(wallet, signInInfo(challenge))}`];
    };

    expect((await ask(url, 'GET munity://x/club', await signedFor('https://shop.community'))).status).toBe(401);
    expect(runs).toEqual([]);
    expect((await ask(url, 'GET munity://x/club', await signedFor('https://shop.com'))).status).toBe(200);
  });
});
