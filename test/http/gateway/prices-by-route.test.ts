import type { MadeProject } from '../../helpers/fixtures/gateway-client.js';
import { proofHeader } from '../../helpers/fixtures/gateway-client.js';
import { type Caller, type GatewayFixture, useGatewayFixture } from '../../helpers/fixtures/gateway-fixture.js';
import { passAnswer } from '../../helpers/http/passes.js';
import { ask as askRaw, linesOf } from '../../helpers/http/raw-http.js';
import type { ProofHeaders } from '../../helpers/http/sign-in.js';
import { DAILY_DATABASES } from '../../helpers/storage/both-databases.js';
import { transferDirectly } from '../../helpers/transactions/direct-transfer.js';
import { askTerms, signPayment } from '../../helpers/transactions/payments.js';
import { payRequest } from '../../helpers/transactions/requests.js';

const CHEAP = 10_000n;
const DEAR = 500_000n;
const OWN = 20_000n;
const ROUTES = [
  { method: 'GET', path: '/health', free: true },
  { path: '/admin/**', deny: 403 },
  { path: '/old', deny: true },
  { method: 'GET', path: '/cheap/*', price: { amount: '0.01' } },
  { path: '/reports/**', price: { amount: '0.50' } },
];
const PRICING = { amount: '0.02', token: 'USDC' };

describe.each(DAILY_DATABASES)('prices by route, on %s', (name, openDatabase) => {
  const opened = useGatewayFixture([name, openDatabase], { keepsPasses: true });
  let fixture: GatewayFixture;
  let caller: Caller;
  let project: MadeProject;

  beforeAll(() => {
    fixture = opened();
  });
  beforeEach(async () => {
    fixture.upstream.respond((res) => void res.end('paid for'));
    caller = await fixture.newCaller();
    project = await fixture.newProject({ pricing: PRICING, routes: ROUTES });
  });

  const urlOf = (path: string, at = project) => `${fixture.client.url}/v1/${at.slug}${path}`;
  const walletOf = ({ wallet: payer }: Caller) => ({ sandbox: fixture.sandbox, payer });
  const call = (path: string, headers: ProofHeaders = {}, method = 'GET') =>
    fixture.client.call(`${project.slug}${path}`, { method, headers: { ...caller.key.headers, ...headers } });
  const answerOf = async (answer: ReturnType<typeof call>) => {
    const { status, body } = await answer;
    return [status, body['code']];
  };
  const priceOf = async (path: string, method = 'GET') => {
    const { accepts } = await askTerms(urlOf(path), { method, headers: caller.key.headers });
    return accepts.map(({ amount }) => BigInt(amount));
  };
  const request = (asked: object, by = caller) => payRequest(fixture.client, by, { project: project.slug, ...asked });
  const SERVED = [200, undefined];

  /** Nothing that a deed tries reaches the upstream. */
  async function expectUntouched(deed: () => Promise<void>): Promise<void> {
    const before = fixture.hits();
    await deed();
    expect(fixture.hits()).toBe(before);
  }

  test('are asked for by the first route that matches, and by the project where none does', async () => {
    expect(await priceOf('/cheap/one')).toEqual([CHEAP]);
    expect(await priceOf('/cheap/one/')).toEqual([CHEAP]);
    expect(await priceOf('/cheap/one?as=/reports/x')).toEqual([CHEAP]);
    expect(await priceOf('/reports')).toEqual([DEAR]);
    expect(await priceOf('/reports/2026/may', 'DELETE')).toEqual([DEAR]);
    for (const [path, method] of [
      ['/', 'GET'],
      ['', 'GET'],
      ['/cheap/one/more', 'GET'],
      ['/cheap/one', 'POST'],
    ] as const)
      expect(await priceOf(path, method)).toEqual([OWN]);
  });

  test('are told before anything of the request is looked at', async () => {
    const long = 'x'.repeat(11 * 1024 * 1024);
    const { status, body } = await fixture.client.call(`${project.slug}/reports/x`, {
      method: 'POST',
      headers: caller.key.headers,
      body: long,
    });
    expect([status, body['code']]).toEqual([402, 'payment_required']);
  });

  test('are nothing for free routes, which are booked and need a key', async () => {
    expect(await answerOf(call('/health'))).toEqual(SERVED);
    expect((await call('/health', {}, 'HEAD')).status).toBe(200);
    expect((await fixture.client.call(`${project.slug}/health`)).status).toBe(401);
    fixture.upstream.respond((res) => void res.writeHead(500).end('no'));
    expect((await call('/health')).status).toBe(500);
    const { body } = await fixture.client.ask(
      'GET',
      `/api/v1/projects/${project.id}/calls`,
      undefined,
      fixture.asOwner,
    );
    const booked = body['data'] as readonly { readonly amount: string | null; readonly route: string }[];
    expect(booked.map(({ amount, route }) => [amount, route])).toEqual(Array(3).fill([null, 'GET /health']));
  });

  test('are not told for what is not for sale, whatever is paid', async () => {
    await expectUntouched(async () => {
      expect(await answerOf(call('/admin'))).toEqual([403, 'route_denied']);
      expect(await answerOf(call('/admin/users', {}, 'POST'))).toEqual([403, 'route_denied']);
      expect(await answerOf(call('/old'))).toEqual([404, 'route_not_found']);
      const { v2 } = await signPayment(walletOf(caller), urlOf('/cheap/one'), {
        init: { headers: caller.key.headers },
      });
      expect(await answerOf(call('/admin', v2))).toEqual([403, 'route_denied']);
    });
  });

  test('are what is booked as revenue and spent', async () => {
    for (const path of ['/cheap/one', '/reports/x', '/']) {
      const { v2 } = await signPayment(walletOf(caller), urlOf(path), { init: { headers: caller.key.headers } });
      expect(await answerOf(call(path, v2))).toEqual(SERVED);
    }
    const { body } = await fixture.client.ask(
      'GET',
      `/api/v1/projects/${project.id}/analytics?by=route`,
      undefined,
      fixture.asOwner,
    );
    expect(body['totals']).toMatchObject({ calls: 3, paid: 3, revenue: { USDC: '0.53' } });
    expect(body['routes']).toMatchObject([
      { route: '* /reports/**', calls: 1, paid: 1, revenue: { USDC: '0.5' } },
      { route: 'GET /cheap/*', calls: 1, paid: 1, revenue: { USDC: '0.01' } },
      { kind: 'none', route: null, calls: 1, paid: 1, revenue: { USDC: '0.02' } },
    ]);
  });

  describe('a payment of a cheap call buys no dear one', () => {
    test('by x402, of either version, and stays good for what it was made for', async () => {
      const init = { headers: caller.key.headers };
      const { v1, v2 } = await signPayment(walletOf(caller), urlOf('/cheap/one'), { init });
      await expectUntouched(async () => {
        for (const payment of [v2, v1]) expect((await call('/reports/x', payment)).status).toBe(402);
      });
      expect(await answerOf(call('/cheap/one', v2))).toEqual(SERVED);
      await expectUntouched(async () => {
        for (const payment of [v2, v1]) expect((await call('/reports/x', payment)).status).toBe(402);
      });
    });

    test('by a payment request, though it was settled', async () => {
      const own = await request({});
      const cheap = await request({ path: '/cheap/one' });
      await expectUntouched(async () => {
        for (const { header } of [own, cheap]) {
          const { status, body } = await call('/reports/x', header);
          expect([status, body['error']]).toEqual([402, 'invalid_proof_too_little']);
        }
        expect((await call('/', cheap.header)).status).toBe(402);
      });
      expect(await answerOf(call('/cheap/one', cheap.header))).toEqual(SERVED);
      expect(await answerOf(call('/', own.header))).toEqual(SERVED);
    });

    test('by the memo of the key, though its wallet paid', async () => {
      const legs = [{ recipient: fixture.owner.publicKey.toBase58(), amount: CHEAP }];
      const memos = [`tollhouse:${project.slug}:${caller.key.id}`];
      const proof = proofHeader(await transferDirectly(fixture.sandbox, { wallet: caller.wallet, legs, memos }));
      await expectUntouched(async () => {
        expect((await call('/reports/x', proof)).status).toBe(402);
        expect((await call('/', proof)).status).toBe(402);
      });
      expect(await answerOf(call('/cheap/one', proof))).toEqual(SERVED);
    });

    test('by its credit, which waits for a call that it pays', async () => {
      fixture.upstream.respond((res) => void res.writeHead(500).end('no'));
      const { v2 } = await signPayment(walletOf(caller), urlOf('/cheap/one'), {
        init: { headers: caller.key.headers },
      });
      expect((await call('/cheap/one', v2)).status).toBe(500);
      fixture.upstream.respond((res) => void res.end('paid for'));
      await expectUntouched(async () => {
        expect((await call('/reports/x')).status).toBe(402);
        expect((await call('/')).status).toBe(402);
      });
      expect(await answerOf(call('/cheap/one'))).toEqual(SERVED);
      expect((await call('/cheap/one')).status).toBe(402);
    });
  });

  test('are paid by a request that names the call, and a dearer one covers a cheaper call', async () => {
    const dear = await request({ path: '/reports/x', method: 'POST' });
    expect(await answerOf(call('/reports/other', dear.header, 'POST'))).toEqual(SERVED);
    const own = await request({});
    expect(await answerOf(call('/cheap/one', own.header))).toEqual(SERVED);
    const ask = async (asked: object) => {
      const { status, body } = await fixture.client.ask('POST', '/create-payment', { project: project.slug, ...asked });
      return [status, body['code']];
    };
    expect(await ask({ path: '/health' })).toEqual([400, 'invalid_amount']);
    expect(await ask({ path: '/admin' })).toEqual([403, 'route_denied']);
    expect(await ask({ path: '/old' })).toEqual([404, 'route_not_found']);
    expect(await ask({ path: '/REPORTS' })).toEqual([400, 'ambiguous_path']);
    expect(await ask({ path: '/reports', amount: '0.02' })).toEqual([400, 'invalid_amount']);
    expect(await ask({ path: 'reports' })).toEqual([400, 'invalid_request']);
  });

  test('hold for passes: one of the project covers what costs no more than its calls, one of a route that route', async () => {
    const offers = [{ amount: '0.05', token: 'USDC', pass: { uses: 10 } }];
    project = await fixture.newProject({
      pricing: { ...PRICING, offers },
      routes: [
        ...ROUTES,
        { path: '/packs/**', price: { offers: [{ amount: '0.03', token: 'USDC', pass: { uses: 5 } }] } },
        { path: '/both/**', price: { amount: '0.02', offers: [{ amount: '0.04', token: 'USDC', pass: { uses: 5 } }] } },
        {
          path: '/dear/**',
          price: { amount: '0.021', offers: [{ amount: '0.06', token: 'USDC', pass: { uses: 5 } }] },
        },
      ],
    });
    const buy = async (path: string, by = caller) => {
      const init = { headers: by.key.headers };
      const { accepts } = await askTerms(urlOf(path), init);
      const { v2 } = await signPayment(walletOf(by), urlOf(path), { init, choice: accepts.length - 1 });
      const paid = await call(path, { ...by.key.headers, ...v2 });
      return { 'access-pass': paid.headers.get('access-pass') ?? '' };
    };
    const stranger = await fixture.newCaller();
    const show = async (path: string, token: ProofHeaders) =>
      passAnswer(await fetch(urlOf(path), { headers: { ...stranger.key.headers, ...token } }));

    const ofProject = await buy('/');
    expect(await show('/any', ofProject)).toMatchObject({ status: 200, left: '8' });
    expect(await show('/cheap/one', ofProject)).toMatchObject({ status: 200, left: '7' });
    expect(await show('/both/x', ofProject)).toMatchObject({ status: 200, left: '6' });
    const ofRoute = await buy('/packs/a');
    expect(await show('/packs/b', ofRoute)).toMatchObject({ status: 200, left: '3' });
    // Who holds a pass of the project is not asked there.
    const ofBoth = await buy('/both/a', await fixture.newCaller());
    expect(await show('/both/b', ofBoth)).toMatchObject({ status: 200, left: '3' });
    await expectUntouched(async () => {
      for (const path of ['/reports/x', '/packs/b', '/dear/x']) expect((await show(path, ofProject)).status).toBe(402);
      for (const path of ['/', '/cheap/one', '/packs/b', '/dear/x'])
        expect((await show(path, ofBoth)).status).toBe(402);
      for (const path of ['/reports/x', '/', '/cheap/one']) expect((await show(path, ofRoute)).status).toBe(402);
    });
  });

  test('are not had cheaper by another way to write a path', async () => {
    const raw = async (path: string, more: readonly string[] = []) => {
      const headers = [...linesOf(caller.key.headers), ...more];
      const { status, body } = await askRaw(fixture.client.url, `GET /v1/${project.slug}${path}`, headers);
      return [status, (JSON.parse(body) as { readonly code: string }).code];
    };
    const written = [
      ...[
        '/REPORTS/x',
        '/Reports',
        '//reports/x',
        '/reports//',
        '/%72eports/x',
        '/%2572eports/x',
        '/reports%2Fx',
        '/reports%5cx',
      ],
      ...['/;a/reports', '/reports;a=b/x', '/reports%00', '/reports%20', '/reports.', '/reports%3Fx', '/reports%23x'],
    ];
    const answers = await Promise.all(written.map(async (path) => [path, ...(await raw(path))]));
    for (const [path, status, code] of answers) {
      const isDear = status === 402 && (await priceOf(String(path)))[0] === DEAR;
      expect([path, isDear || code === 'ambiguous_path']).toEqual([path, true]);
    }
    for (const path of ['/cheap/../reports/x', '/cheap/%2e%2e/reports'])
      expect(await raw(path)).toEqual([400, 'ambiguous_path']);
    for (const name of ['X-HTTP-Method-Override: POST', 'X-Original-URL: /reports', 'X-Rewrite-URL: /reports'])
      expect(await raw('/cheap/one', [name])).toEqual([400, 'ambiguous_path']);
  });

  test('are kept, shown and changed as they were written', async () => {
    const path = `/api/v1/projects/${project.id}`;
    const read = async () => (await fixture.client.ask('GET', path, undefined, fixture.asOwner)).body;
    expect(await read()).toMatchObject({
      routes: [
        { method: 'GET', path: '/health', free: true, price: null, deny: null },
        { method: null, path: '/admin/**', deny: 403 },
        { method: null, path: '/old', deny: 404 },
        { method: 'GET', path: '/cheap/*', price: { amount: '0.01', token: 'USDC', buys: '1 request' } },
        { method: null, path: '/reports/**', price: { amount: '0.5' } },
      ],
      free_calls: null,
    });
    const patch = async (change: object) => fixture.client.ask('PATCH', path, change, fixture.asOwner);
    expect((await patch({ description: 'other' })).body['routes']).toHaveLength(5);
    expect(await priceOf('/reports/x')).toEqual([DEAR]);
    expect((await patch({ routes: null })).body['routes']).toEqual([]);
    expect(await priceOf('/reports/x')).toEqual([OWN]);
  });

  test.each([
    ['one of price, free and deny', [{ path: '/a' }], '/routes/0'],
    ['one of price, free and deny', [{ path: '/a', free: true, deny: 403 }], '/routes/0'],
    ['begin with', [{ path: 'a', free: true }], '/routes/0/path'],
    ['last segment', [{ path: '/**/a', free: true }], '/routes/0/path'],
    ['plain letters', [{ path: '/a%2Fb', free: true }], '/routes/0/path'],
    ['plain letters', [{ path: '/a/..', free: true }], '/routes/0/path'],
    ['two slashes', [{ path: '/a//b', free: true }], '/routes/0/path'],
    ['did you mean "DELETE"?', [{ method: 'DELTE', path: '/a', deny: 403 }], '/routes/0/method'],
    ['capitals', [{ method: 'get', path: '/a', free: true }], '/routes/0/method'],
    [
      'one before it',
      [
        { path: '/a', free: true },
        { path: '/a', deny: true },
      ],
      '/routes/1',
    ],
    ['more than zero', [{ path: '/a', price: { amount: '0' } }], '/routes/0/price/amount'],
    ['at most 100', Array.from({ length: 101 }, (_, at) => ({ path: `/${at}`, free: true })), '/routes'],
  ])('are refused with "%s"', async (detail, routes, pointer) => {
    const body = {
      slug: 'never-made',
      name: 'x',
      upstream: { url: fixture.upstream.origin },
      pricing: PRICING,
      routes,
    };
    const { status, body: said } = await fixture.client.ask('POST', '/api/v1/projects', body, fixture.asOwner);
    const errors = said['errors'] as readonly { readonly pointer: string; readonly detail: string }[];
    expect([status, errors.map((it) => it.pointer)]).toEqual([422, [pointer]]);
    expect(errors[0]?.detail).toContain(detail);
  });
});
