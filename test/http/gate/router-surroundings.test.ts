import type { Express } from 'express';
import type { EmbeddedFacilitator } from '../../../src/facilitator/create-facilitator.js';
import { createRouter, type RouterSettings } from '../../../src/http/create-router.js';
import { openIdentity } from '../../helpers/fixtures/identity-fixture.js';
import { EXPRESSES, openTollFixture, type TollFixture } from '../../helpers/fixtures/toll-fixture.js';
import { ONE_CENT, offeredTerms, payTerms } from '../../helpers/transactions/core-payments.js';
import { until } from '../../helpers/until.js';

const REQUEST_ID = /^req_[1-9A-HJ-NP-Za-km-z]{16,22}$/;

describe.each(EXPRESSES)('around the routes of the router, %s', (_name, express) => {
  let fixture: TollFixture;

  beforeAll(async () => {
    fixture = await openTollFixture();
  });
  afterAll(() => fixture.close());

  const serve = (
    options: Partial<RouterSettings> & { readonly facilitator?: EmbeddedFacilitator } = {},
    before: (app: Express) => void = () => undefined,
  ) =>
    fixture.serve((app) => {
      before(app);
      app.use(createRouter({ facilitator: fixture.facilitator, ...options }));
      app.get('/own', (_req, res) => void res.send('of the app'));
    }, express);

  const post = (url: string, body: unknown, headers: Record<string, string> = {}) =>
    fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });

  describe('request ids', () => {
    test('every answer has one, and its problem names the same', async () => {
      const url = await serve();
      const [welcome, refused, wrongMethod] = await Promise.all([
        fetch(`${url}/health`),
        post(`${url}/settle`, {}),
        fetch(`${url}/settle`),
      ]);
      const ids = [welcome, refused, wrongMethod].map(({ headers }) => headers.get('x-request-id'));
      for (const id of ids) expect(id).toMatch(REQUEST_ID);
      expect(new Set(ids).size).toBe(3);
      expect(await refused.json()).toMatchObject({ status: 400, request_id: ids[1] });
      expect(await wrongMethod.json()).toMatchObject({ status: 405, request_id: ids[2] });
    });

    test('a well-formed one of the caller is kept, any other replaced', async () => {
      const url = await serve();
      const idOf = async (sent: string) =>
        (await fetch(`${url}/healthz`, { headers: { 'x-request-id': sent } })).headers.get('x-request-id');
      expect(await idOf('trace-1:a.b_c/d=e+f')).toBe('trace-1:a.b_c/d=e+f');
      expect(await idOf('x'.repeat(128))).toBe('x'.repeat(128));
      for (const bad of ['x'.repeat(129), 'two words', '"quoted"', '<b>']) expect(await idOf(bad)).toMatch(REQUEST_ID);
    });

    test('one that the app gave is kept', async () => {
      const url = await serve({}, (app) =>
        app.use((_req, res, next) => {
          res.setHeader('X-Request-Id', 'of-the-app');
          next();
        }),
      );
      const refused = await post(`${url}/settle`, {});
      expect(await refused.json()).toMatchObject({ request_id: 'of-the-app' });
    });
  });

  describe('scripts of other origins', () => {
    test('may read answers, problems and the headers of payments and limits', async () => {
      const url = await serve();
      for (const answer of [await fetch(`${url}/supported`), await post(`${url}/settle`, {})]) {
        expect(answer.headers.get('access-control-allow-origin')).toBe('*');
        expect(answer.headers.get('access-control-allow-credentials')).toBeNull();
        const exposed = (answer.headers.get('access-control-expose-headers') ?? '').split(', ');
        const names = ['PAYMENT-REQUIRED', 'PAYMENT-RESPONSE', 'X-PAYMENT-RESPONSE', 'RateLimit', 'RateLimit-Policy'];
        expect(exposed).toEqual(expect.arrayContaining([...names, 'Retry-After', 'X-Request-Id']));
      }
    });

    test('get their preflight answered on every route, and may send payments, sign-ins and keys', async () => {
      const url = await serve({ identity: openIdentity().identity });
      const preflight = { origin: 'https://shop.example', 'access-control-request-method': 'POST' };
      for (const path of ['/', '/settle', '/payments/pay_x/transaction', '/token-gate/tiers', '/api/v1/auth/token']) {
        const answer = await fetch(url + path, { method: 'OPTIONS', headers: preflight });
        expect([path, answer.status, await answer.text()]).toEqual([path, 204, '']);
        expect(answer.headers.get('access-control-allow-methods')).toContain('POST');
        const allowed = (answer.headers.get('access-control-allow-headers') ?? '').toLowerCase().split(', ');
        const sent = ['payment-signature', 'x-payment', 'sign-in-with-x', 'authorization', 'idempotency-key'];
        // The official client puts the last one on its requests.
        expect(allowed).toEqual(expect.arrayContaining([...sent, 'content-type', 'access-control-expose-headers']));
      }
    });

    test('an origin that the app allows already stays', async () => {
      const url = await serve({}, (app) =>
        app.use((_req, res, next) => {
          res.setHeader('Access-Control-Allow-Origin', 'https://shop.example');
          next();
        }),
      );
      expect((await fetch(`${url}/health`)).headers.get('access-control-allow-origin')).toBe('https://shop.example');
    });
  });

  test('routes of the app behind the router are none of its business', async () => {
    const url = await serve({ limits: { scale: 0.001 } });
    for (let n = 0; n < 3; n += 1) {
      const answer = await fetch(`${url}/own`, { headers: { 'x-request-id': 'mine' } });
      expect([answer.status, await answer.text()]).toEqual([200, 'of the app']);
      for (const name of ['x-request-id', 'ratelimit', 'access-control-allow-origin']) {
        expect(answer.headers.get(name)).toBeNull();
      }
    }
  });

  describe('limits', () => {
    const left = (answer: Response) => Number(/; r=(\d+);/.exec(answer.headers.get('ratelimit') ?? '')?.[1]);

    test('are on unless switched off: 60 a minute over all routes, a request counting once', async () => {
      const url = await serve();
      expect(left(await fetch(`${url}/supported`))).toBe(59);
      expect(left(await fetch(`${url}/payments/icon.svg`))).toBe(58);
      expect(left(await post(`${url}/settle`, {}))).toBe(57);
      for (let n = 0; n < 57; n += 1) expect((await fetch(`${url}/token-gate/tiers`)).status).toBe(200);
      const refused = await fetch(`${url}/health`);
      expect(refused.status).toBe(429);
      expect(refused.headers.get('access-control-allow-origin')).toBe('*');
      expect(await refused.json()).toMatchObject({ code: 'rate_limited', request_id: expect.any(String) });
    });

    test('leave probes, metrics and preflights alone', async () => {
      const url = await serve({ limits: { scale: 0.001 } });
      expect((await fetch(`${url}/health`)).status).toBe(200);
      expect((await fetch(`${url}/health`)).status).toBe(429);
      const headers = { origin: 'https://shop.example', 'access-control-request-method': 'GET' };
      for (let n = 0; n < 3; n += 1) {
        for (const path of ['/healthz', '/readyz', '/metrics']) expect((await fetch(url + path)).status).toBe(200);
        expect((await fetch(`${url}/health`, { method: 'OPTIONS', headers })).status).toBe(204);
      }
    });

    test('can be switched off', async () => {
      const url = await serve({ limits: false });
      for (let n = 0; n < 70; n += 1) {
        const answer = await fetch(`${url}/token-gate/tiers`);
        expect([answer.status, answer.headers.get('ratelimit')]).toEqual([200, null]);
      }
    });

    test('failed sign-ins lock the address out of signing in', async () => {
      const url = await serve({ identity: openIdentity().identity });
      const refresh = () => post(`${url}/api/v1/auth/refresh`, { refresh_token: 'guessed' });
      for (let n = 0; n < 10; n += 1) expect((await refresh()).status).toBe(401);
      const locked = await refresh();
      expect([locked.status, locked.headers.get('retry-after')]).toEqual([429, '60']);
      expect((await fetch(`${url}/health`)).status).toBe(200);
    });
  });

  describe('metrics', () => {
    async function metrics(url: string): Promise<string> {
      const answer = await fetch(`${url}/metrics`);
      expect(answer.status).toBe(200);
      expect(answer.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/);
      return answer.text();
    }
    const figure = (text: string, name: string): number =>
      Number(
        text
          .split('\n')
          .find((line) => line.startsWith(`${name} `))
          ?.slice(name.length + 1) ?? 0,
      );

    test('requests are counted by the pattern of their route and by status', async () => {
      const url = await serve();
      await fetch(`${url}/payments/pay_a`);
      await fetch(`${url}/payments/pay_b`);
      await post(`${url}/settle`, {});
      await fetch(`${url}/own`);
      const name = 'tollhouse_http_requests_total';
      await until(async () => figure(await metrics(url), `${name}{method="POST",route="/settle",status="400"}`) === 1);
      const text = await metrics(url);
      expect(figure(text, `${name}{method="GET",route="/payments/:id",status="404"}`)).toBe(2);
      expect(text).not.toMatch(/pay_a|\/own/);
    });

    test('payments by outcome, the time of settlements, the fee payer, the RPC', async () => {
      const facilitator = fixture.facilitatorWith({});
      const url = await serve({ facilitator });
      const terms = await offeredTerms(facilitator, fixture.payTo);
      const payment = await payTerms(fixture, terms);
      expect(await facilitator.settle(payment, terms)).toMatchObject({ status: 'settled' });
      const dear = { ...terms, amount: 2_000n * ONE_CENT * 100n };
      expect(await facilitator.settle(await payTerms(fixture, dear), dear)).toMatchObject({ status: 'failed' });
      const text = await metrics(url);
      expect(figure(text, 'tollhouse_payments_total{outcome="settled",network="solana-devnet"}')).toBe(1);
      expect(figure(text, 'tollhouse_payments_total{outcome="failed",network="solana-devnet"}')).toBe(1);
      expect(figure(text, 'tollhouse_settlement_seconds_count{network="solana-devnet"}')).toBe(1);
      expect(figure(text, 'tollhouse_settlement_seconds_sum{network="solana-devnet"}')).toBeGreaterThan(0);
      const wallet = fixture.feePayer.publicKey.toBase58();
      const lamports = Number(fixture.sandbox.balance(wallet));
      expect(figure(text, `tollhouse_fee_payer_lamports{wallet="${wallet}",network="solana-devnet"}`)).toBe(lamports);
      expect(figure(text, 'tollhouse_rpc_up{network="solana-devnet"}')).toBe(1);
      expect(figure(text, 'tollhouse_store_up')).toBe(1);
    });

    test('what cannot be known is not made up', async () => {
      const facilitator = fixture.facilitatorWith({});
      const url = await serve({ facilitator });
      const fault = fixture.sandbox.faults.add({ kind: 'disconnect' });
      const text = await metrics(url);
      fault.remove();
      expect(text).toMatch(/^tollhouse_rpc_up{network="solana-devnet"} 0$/m);
      expect(text).not.toMatch(/^tollhouse_fee_payer_lamports[{ ]/m);
    });

    test('without prom-client the answer says what is missing', async () => {
      const metrics = {
        count: (_req: unknown, _res: unknown, next: () => void) => next(),
        expose: async () => undefined,
      };
      const url = await serve({ metrics });
      const answer = await fetch(`${url}/metrics`);
      expect([answer.status, await answer.json()]).toEqual([
        501,
        expect.objectContaining({ code: 'not_configured', detail: expect.stringContaining('prom-client') }),
      ]);
    });
  });
});
