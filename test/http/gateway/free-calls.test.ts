import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import type { MadeProject } from '../../helpers/fixtures/gateway-client.js';
import { type Caller, type GatewayFixture, useGatewayFixture } from '../../helpers/fixtures/gateway-fixture.js';
import type { ProofHeaders } from '../../helpers/http/sign-in.js';
import { DAILY_DATABASES } from '../../helpers/storage/both-databases.js';
import { signPayment } from '../../helpers/transactions/payments.js';
import { until } from '../../helpers/until.js';

const DAY_MS = 86_400_000;

describe.each(DAILY_DATABASES)('free calls, on %s', (name, openDatabase) => {
  const opened = useGatewayFixture([name, openDatabase], { keepsPasses: true });
  let fixture: GatewayFixture;
  let caller: Caller;

  beforeAll(() => {
    fixture = opened();
  });
  beforeEach(async () => {
    fixture.upstream.respond((res) => void res.end('for nothing'));
    caller = await fixture.newCaller();
  });

  const newProject = (count: number, more: object = {}) =>
    fixture.newProject({ free_calls: { count, window: '24h' }, ...more });
  const call = async ({ slug }: MadeProject, path = '', headers: ProofHeaders = caller.key.headers) => {
    const answer = await fixture.client.call(`${slug}${path}`, { headers });
    return { ...answer, left: answer.headers.get('access-free-calls')?.split(';')[0] };
  };

  test('are as many for each key as the project says, and then the price is told', async () => {
    const project = await newProject(2);
    const first = await call(project);
    expect([first.status, first.text]).toEqual([200, 'for nothing']);
    expect(first.headers.get('access-free-calls')).toMatch(/^1; limit=2; window=day; reset=\d+$/);
    expect((await call(project)).left).toBe('0');
    const told = await call(project);
    expect([told.status, told.body['code'], told.left]).toEqual([402, 'payment_required', '0']);
    const other = await fixture.newCaller();
    expect((await call(project, '', other.key.headers)).left).toBe('1');
    expect((await call(project, '', {})).status).toBe(401);
  });

  test('are no more where twenty come at once', async () => {
    const project = await newProject(7);
    const before = fixture.hits();
    const answers = await Promise.all(Array.from({ length: 20 }, () => call(project)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(7);
    expect(answers.filter(({ status }) => status === 402)).toHaveLength(13);
    expect(fixture.hits() - before).toBe(7);
  });

  test.each([
    ['answers 500', (res) => void res.writeHead(500).end('no'), 500],
    ['breaks off', (res) => void res.destroy(), 502],
  ] as readonly (readonly [string, Parameters<GatewayFixture['upstream']['respond']>[0], number])[])(
    'are not counted where the upstream %s',
    async (_what, respond, status) => {
      const project = await newProject(1);
      fixture.upstream.respond(respond);
      for (let n = 0; n < 3; n += 1) expect(await call(project)).toMatchObject({ status, left: '1' });
      fixture.upstream.respond((res) => void res.end('for nothing'));
      expect(await call(project)).toMatchObject({ status: 200, left: '0' });
      expect((await call(project)).status).toBe(402);
    },
  );

  test('are for what costs no more than the calls of the project', async () => {
    const routes = [
      { path: '/dear', price: { amount: '1' } },
      { path: '/cheap', price: { amount: '0.001' } },
    ];
    const project = await newProject(3, { routes });
    expect((await call(project, '/dear')).status).toBe(402);
    expect((await call(project, '/dear')).left).toBeUndefined();
    expect((await call(project, '/cheap')).left).toBe('2');
    expect((await call(project, '/any')).left).toBe('1');
  });

  test('are booked without an amount, and are in no wallet’s list of passes', async () => {
    const project = await newProject(3);
    await call(project);
    const { body } = await fixture.client.ask(
      'GET',
      `/api/v1/projects/${project.id}/analytics`,
      undefined,
      fixture.asOwner,
    );
    expect(body['totals']).toMatchObject({ calls: 1, paid: 0, revenue: {} });
    const session = await fixture.client.signIn(caller.wallet);
    const passes = await fixture.client.ask('GET', '/api/v1/passes', undefined, session);
    expect(passes.body['data']).toEqual([]);
  });

  test('are not taken by a call that cannot be passed on, nor by one that is paid', async () => {
    const project = await newProject(2);
    const { slug } = project;
    const body = 'x'.repeat(11 * 1024 * 1024);
    const long = await fixture.client.call(slug, { method: 'POST', headers: caller.key.headers, body });
    expect(long.body['code']).toBe('body_too_large');
    const url = `${fixture.client.url}/v1/${slug}`;
    const wallet = { sandbox: fixture.sandbox, payer: caller.wallet };
    for (const left of ['1', '0']) expect((await call(project)).left).toBe(left);
    const payment = await signPayment(wallet, url, { init: { headers: caller.key.headers } });
    const paid = await call(project, '', { ...caller.key.headers, ...payment.v2 });
    expect([paid.status, paid.left]).toEqual([200, undefined]);
  });

  describe('under an Idempotency-Key', () => {
    const FREE_ROUTE = { routes: [{ path: '/health', free: true }] };
    const named = (key = randomUUID()): ProofHeaders => ({ ...caller.key.headers, 'idempotency-key': key });

    test.each(['', '/health'])('are made once, had again, and counted once: at "%s"', async (path) => {
      const project = await newProject(2, FREE_ROUTE);
      const before = fixture.hits();
      const headers = named();
      const first = await call(project, path, headers);
      fixture.upstream.respond((res) => void res.end('something else'));
      const again = await call(project, path, headers);
      expect([first.status, again.status, again.text, again.left]).toEqual([200, 200, 'for nothing', first.left]);
      expect(again.headers.get('idempotency-replayed')).toBe('true');
      expect(fixture.hits() - before).toBe(1);
      expect((await call(project)).left).toBe(path === '' ? '0' : '1');
      expect((await call(project, `${path}?other`, headers)).body['code']).toBe('idempotency_key_reused');
    });

    test('are had again though no free one is left, and a new one is asked to pay and keeps its name', async () => {
      const project = await newProject(1);
      const headers = named();
      await call(project, '', headers);
      expect(await call(project, '', headers)).toMatchObject({ status: 200, text: 'for nothing' });
      const other = named();
      expect((await call(project, '', other)).body['code']).toBe('payment_required');
      const wallet = { sandbox: fixture.sandbox, payer: caller.wallet };
      const url = `${fixture.client.url}/v1/${project.slug}`;
      const { v2 } = await signPayment(wallet, url, { init: { headers: caller.key.headers } });
      expect((await call(project, '', { ...other, ...v2 })).status).toBe(200);
    });

    test.each(['', '/health'])('are free again, and not counted, where the upstream fails: at "%s"', async (path) => {
      const project = await newProject(1, FREE_ROUTE);
      const headers = named();
      fixture.upstream.respond((res) => void res.writeHead(500).end('no'));
      for (let n = 0; n < 2; n += 1) expect((await call(project, path, headers)).status).toBe(500);
      fixture.upstream.respond((res) => void res.end('at last'));
      const served = await call(project, path, headers);
      expect([served.status, served.text, served.left]).toEqual([200, 'at last', path === '' ? '0' : undefined]);
    });

    test('are made once where they come twice at once, and the second is told to wait', async () => {
      const project = await newProject(2);
      const held: ServerResponse[] = [];
      fixture.upstream.respond((res) => void held.push(res));
      const headers = named();
      const first = call(project, '', headers);
      await until(() => held.length === 1);
      expect((await call(project, '', headers)).body['code']).toBe('idempotency_in_progress');
      held[0]?.end('late');
      expect([(await first).left, (await call(project, '', headers)).text]).toEqual(['1', 'late']);
    });

    test('are each their own at a free route that a payment is sent to', async () => {
      const project = await newProject(1, FREE_ROUTE);
      const headers = { ...caller.key.headers, 'payment-signature': 'whatever it is' };
      const before = fixture.hits();
      for (let n = 0; n < 2; n += 1) expect((await call(project, '/health', headers)).status).toBe(200);
      expect(fixture.hits() - before).toBe(2);
    });
  });

  test('begin anew with the next day', async () => {
    const project = await newProject(1);
    expect([(await call(project)).status, (await call(project)).status]).toEqual([200, 402]);
    const url = `${fixture.client.url}/v1/${project.slug}`;
    const wallet = { sandbox: fixture.sandbox, payer: caller.wallet };
    const payment = await signPayment(wallet, url, { init: { headers: caller.key.headers } });
    fixture.advance(DAY_MS);
    // Whoever brings a payment pays, and keeps what is free.
    const paid = await call(project, '', { ...caller.key.headers, ...payment.v2 });
    expect([paid.status, paid.left]).toEqual([200, undefined]);
    expect([(await call(project)).status, (await call(project)).status]).toEqual([200, 402]);
  });
});
