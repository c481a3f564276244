import { SOL_MINT } from '../../../src/protocol/networks/tokens.js';
import { NATIVE_SOL } from '../../../src/solana/transaction/programs.js';
import { DAY_MS, dayOf, HOUR_MS, hourOf } from '../../../src/storage/calls/periods.js';
import { failedCall, newCall, newRefusal } from '../../contracts/call-samples.js';
import { NOON } from '../../helpers/fixtures/identity-fixture.js';
import { keyHeaders } from '../../helpers/fixtures/keys-fixture.js';
import { mintOf, openMoneyFixture, TWIN_MINT, UNKNOWN_MINT } from '../../helpers/fixtures/money-fixture.js';
import type { ProofHeaders } from '../../helpers/http/sign-in.js';
import { walletKey } from '../../helpers/transactions/wallet-key.js';

const [alice, bob] = [walletKey('alice'), walletKey('bob')];
const [USDC, USDG] = [mintOf('USDC'), mintOf('USDG')];
const BASE = '/api/v1/projects/prj_weather';
const OWNERS = { prj_weather: alice.address, prj_other: bob.address, prj_bobs_second: bob.address };
let fixture: Awaited<ReturnType<typeof openMoneyFixture>>;
let headers: ProofHeaders;

beforeEach(async () => {
  fixture = await openMoneyFixture(OWNERS);
  headers = await fixture.token(alice);
});
afterEach(async () => {
  await fixture.book.close();
  await fixture.close();
});

const text = (time: number) => new Date(time).toISOString();
const paid = (amount: bigint, at = NOON, mint = USDC, payer = alice.address, durationMs = 100) =>
  fixture.book.finish(newCall({ charge: { mint, amount }, at, payer, durationMs }));

describe('GET /api/v1/projects/:project_id/analytics', () => {
  test('tells the figures of each hour, with zeros where nothing happened, and their totals', async () => {
    await paid(1_500_000n);
    await paid(10_000n, NOON, USDC, bob.address, 200);
    await paid(7n, NOON - HOUR_MS, USDG, alice.address, 4_000);
    await fixture.book.finish(failedCall({ at: NOON }));
    fixture.book.refuse(newRefusal({ at: NOON }));
    for (const at of [NOON, NOON]) fixture.book.challenge({ projectId: newRefusal().projectId, at });
    await fixture.book.flush();
    const { status, body, headers: sent } = await fixture.ask(`${BASE}/analytics?interval=hour`, headers);
    const none = {
      calls: 0,
      paid: 0,
      challenged: 0,
      refused: 0,
      payers: 0,
      upstream_errors: 0,
      p50_ms: null,
      p95_ms: null,
    };
    const last = hourOf(NOON);

    expect([status, sent.get('cache-control')]).toEqual([200, 'no-store']);
    expect(body).toMatchObject({ interval: 'hour', from: text(last - 24 * HOUR_MS), to: text(last + HOUR_MS) });
    expect(body.series).toHaveLength(25);
    expect(body.series[0]).toMatchObject({ ...none, t: text(last - 24 * HOUR_MS), revenue: { USDC: '0', USDG: '0' } });
    expect(body.series[23]).toMatchObject({ calls: 1, paid: 1, payers: 1, revenue: { USDC: '0', USDG: '0.000007' } });
    expect(body.series[24]).toMatchObject({
      ...{ t: text(last), calls: 3, paid: 2, challenged: 2, refused: 1, payers: 2, upstream_errors: 1 },
      ...{ revenue: { USDC: '1.51', USDG: '0' }, revenue_atomic: { USDC: '1510000', USDG: '0' } },
      refusals: { payment_already_used: 1 },
    });
    expect(body.totals).toMatchObject({ calls: 4, paid: 3, challenged: 2, refused: 1, payers: 2, upstream_errors: 1 });
    expect(body.totals.revenue).toEqual({ USDC: '1.51', USDG: '0.000007' });
    expect(body.tokens).toEqual({ USDC: { mint: USDC, decimals: 6 }, USDG: { mint: USDG, decimals: 6 } });
  });

  test('tells native and wrapped SOL as one money, and two tokens with one symbol as two', async () => {
    await paid(3_000_000_000n, NOON, SOL_MINT);
    await paid(1_000_000_000n, NOON, NATIVE_SOL);
    await paid(10_000n);
    await paid(5_000_000n, NOON, TWIN_MINT);
    const { body } = await fixture.ask(`${BASE}/analytics`, headers);
    const figures = Object.values(body.totals.revenue).sort();
    expect(figures).toEqual(['0.01', '4', '5']);
    expect(body.totals.revenue.SOL).toBe('4');
    expect(body.tokens.SOL).toEqual({ mint: SOL_MINT, decimals: 9 });
    const mints = Object.values(body.tokens as Record<string, { mint: string }>).map(({ mint }) => mint);
    expect(mints.sort()).toEqual([SOL_MINT, USDC, TWIN_MINT].sort());
    const { text: table } = await fixture.ask(`${BASE}/analytics?format=csv`, headers);
    const heads = table
      .split('\r\n')[0]!
      .split(',')
      .filter((it) => it.startsWith('revenue_'));
    expect([heads.length, new Set(heads).size]).toEqual([3, 3]);
  });

  test('tells the last thirty days by day when nothing is said', async () => {
    await paid(1n, NOON - 30 * DAY_MS);
    await paid(1n, NOON - 31 * DAY_MS);
    const { body } = await fixture.ask(`${BASE}/analytics`, headers);
    expect(body.interval).toBe('day');
    expect(body.series).toHaveLength(31);
    expect([body.series[0].t, body.totals.calls]).toEqual([text(dayOf(NOON) - 30 * DAY_MS), 1]);
  });

  test('tells percentiles to within 5 %, over the calls of all steps', async () => {
    for (let at = 1; at <= 100; at += 1) await paid(1n, NOON - (at % 5) * HOUR_MS, USDC, alice.address, at * 10);
    const { body } = await fixture.ask(`${BASE}/analytics?interval=hour`, headers);
    expect(Math.abs(body.totals.p50_ms / 500 - 1)).toBeLessThan(0.06);
    expect(Math.abs(body.totals.p95_ms / 950 - 1)).toBeLessThan(0.06);
  });

  test('tells whole steps: those in which the range begins and ends are in it', async () => {
    await paid(1n, NOON);
    const at = (from: number, to: number) =>
      fixture.ask(`${BASE}/analytics?interval=hour&from=${text(from)}&to=${text(to)}`, headers);
    const { body } = await at(NOON, NOON + 1);
    expect(body).toMatchObject({ from: text(hourOf(NOON)), to: text(hourOf(NOON) + HOUR_MS), totals: { calls: 1 } });
    const offset = await fixture.ask(
      `${BASE}/analytics?from=2026-01-02T01:00:00%2B02:00&to=2026-01-02T00:00:00Z`,
      headers,
    );
    expect(offset.body).toMatchObject({ from: '2026-01-01T00:00:00.000Z', to: '2026-01-02T00:00:00.000Z' });
  });

  test.each([
    ['interval=hour&from=2025-01-01T00:00:00Z', '/interval', 'interval=day'],
    ['from=2000-01-01T00:00:00Z', '/interval', 'closer together'],
    ['from=2026-01-02T00:00:00Z&to=2026-01-02T00:00:00Z', '/from', 'before "to"'],
    ['from=2027-01-01T00:00:00Z', '/from', 'before "to"'],
    ['from=yesterday', '/from', '2030-01-02T03:04:05Z'],
    ['from=1969-01-01T00:00:00Z', '/from', '1970'],
    ['interval=minute', '/interval', 'hour or day'],
    ['format=xml', '/format', 'json or csv'],
    ['tz=Mars/Olympus', '/tz', 'such as Europe/Berlin'],
    ['tz=', '/tz', 'such as Europe/Berlin'],
    ['tz=%2B05:30', '/tz', 'such as Europe/Berlin'],
    [`tz=${'x'.repeat(5_000)}`, '/tz', 'such as Europe/Berlin'],
    ['by=wallet', '/by', 'must be route'],
    ['form=csv', '/form', 'is no field of this request; did you mean'],
  ])('?%s is refused, saying what to change', async (query, pointer, detail) => {
    const { status, body } = await fixture.ask(`${BASE}/analytics?${query}`, headers);
    expect([status, body.code]).toEqual([422, 'validation_failed']);
    expect(body.errors[0]).toMatchObject({ pointer, detail: expect.stringContaining(detail) });
  });

  test('tells days as the clocks of a zone have them, the one with 23 hours among them', async () => {
    const range = 'from=2026-03-28T12:00:00Z&to=2026-03-30T12:00:00Z&tz=Europe/Berlin';
    await paid(1n, Date.UTC(2026, 2, 28, 22, 59));
    for (const hour of [0, 21]) await paid(10n, Date.UTC(2026, 2, 29, hour, 59));
    await paid(100n, Date.UTC(2026, 2, 29, 22, 0));
    const { body } = await fixture.ask(`${BASE}/analytics?${range}`, headers);
    expect(body).toMatchObject({
      tz: 'Europe/Berlin',
      from: '2026-03-27T23:00:00.000Z',
      to: '2026-03-30T22:00:00.000Z',
    });
    expect(body.series).toMatchObject([
      { t: '2026-03-27T23:00:00.000Z', local: '2026-03-28T00:00:00+01:00', calls: 1 },
      { t: '2026-03-28T23:00:00.000Z', local: '2026-03-29T00:00:00+01:00', calls: 2, payers: 1 },
      { t: '2026-03-29T22:00:00.000Z', local: '2026-03-30T00:00:00+02:00', calls: 1 },
    ]);
    expect(body.totals).toMatchObject({ calls: 4, payers: 1, revenue_atomic: { USDC: '121' } });
  });

  test('tells a thousand days by the clocks of a zone', async () => {
    const to = Date.UTC(2026, 0, 1);
    const range = `from=${text(to - 999 * DAY_MS)}&to=${text(to)}&tz=Australia/Lord_Howe`;
    const { body } = await fixture.ask(`${BASE}/analytics?${range}`, headers);
    expect(body.series).toHaveLength(1_000);
  });

  test('tells how long the upstream took apart from us', async () => {
    for (let at = 1; at <= 100; at += 1) {
      await fixture.book.finish(newCall({ at: NOON, durationMs: 5_000, upstreamMs: at * 10, gatewayMs: at }));
    }
    await fixture.book.finish(failedCall({ at: NOON }));
    const { body } = await fixture.ask(`${BASE}/analytics`, headers);
    const near = (told: number, ms: number) => expect(Math.abs(told / ms - 1)).toBeLessThan(0.06);
    near(body.totals.upstream_p50_ms, 500);
    near(body.totals.upstream_p95_ms, 950);
    near(body.totals.gateway_p50_ms, 50);
    near(body.totals.gateway_p95_ms, 95);
    expect(body.series.at(-1)).toMatchObject({ gateway_p50_ms: body.totals.gateway_p50_ms });
    expect(body.series[0]).toMatchObject({ upstream_p50_ms: null, gateway_p95_ms: null });
  });

  test('tells the totals by route, the hundred busiest by name, as JSON and as a table', async () => {
    for (let at = 0; at < 102; at += 1) {
      await fixture.book.finish(newCall({ at: NOON, rule: `GET /r${String(at).padStart(3, '0')}` }));
    }
    await fixture.book.finish(newCall({ at: NOON, rule: 'GET /r050' }));
    await paid(5n);
    const { body } = await fixture.ask(`${BASE}/analytics?by=route`, headers);
    const money = (atomic: string) => ({ revenue_atomic: { USDC: atomic } });
    expect(body.routes).toHaveLength(102);
    expect(body.routes[0]).toMatchObject({ kind: 'route', route: 'GET /r050', calls: 2, paid: 2, ...money('20000') });
    expect(body.routes.slice(-2)).toMatchObject([
      { kind: 'others', route: null, calls: 2, ...money('20000') },
      { kind: 'none', route: null, calls: 1, paid: 1, ...money('5') },
    ]);
    const { text: table, headers: sent } = await fixture.ask(`${BASE}/analytics?by=route&format=csv`, headers);
    expect(sent.get('content-disposition')).toContain('routes.csv');
    expect(table.split('\r\n').slice(0, 2)).toEqual(['kind,route,calls,paid,revenue_USDC', 'route,GET /r050,2,2,0.02']);
    expect((await fixture.ask(`${BASE}/analytics`, headers)).body).not.toHaveProperty('routes');
  });

  test('a thousand steps are told, and one more is not', async () => {
    const to = Date.UTC(2026, 0, 1);
    const range = (steps: number) => `interval=hour&from=${text(to - steps * HOUR_MS)}&to=${text(to)}`;
    expect((await fixture.ask(`${BASE}/analytics?${range(1_000)}`, headers)).body.series).toHaveLength(1_000);
    expect((await fixture.ask(`${BASE}/analytics?${range(1_001)}`, headers)).status).toBe(422);
  });

  test.each([
    ['?format=csv', {}],
    ['', { accept: 'text/csv' }],
  ])('is a table for those who ask for one: %s %j', async (query, more) => {
    await paid(1_500_000n, NOON - DAY_MS);
    await paid(3n, NOON, UNKNOWN_MINT);
    fixture.book.refuse(newRefusal({ at: NOON }));
    await fixture.book.flush();
    const { headers: sent, text: table } = await fixture.ask(`${BASE}/analytics${query}`, { ...headers, ...more });
    const rows = table.split('\r\n');

    expect(sent.get('content-type')).toBe('text/csv; charset=utf-8');
    expect(sent.get('vary')).toContain('Accept');
    expect(rows).toHaveLength(1 + 31 + 1);
    const [head, ...rest] = rows.slice(0, -1).map((row) => row.split(','));
    expect(head?.slice(0, 8)).toEqual('t,calls,paid,refused,payers,p50_ms,p95_ms,upstream_errors'.split(','));
    const column = (name: string) => rest.map((row) => row[head!.indexOf(name)]).slice(-2);
    expect(column('revenue_USDC')).toEqual(['1.5', '0']);
    expect(column(`revenue_${UNKNOWN_MINT}`)).toEqual(['0', '3']);
    expect(column('refused_payment_already_used')).toEqual(['0', '1']);
    expect(column('t')[1]).toBe(text(dayOf(NOON)));
  });
});

describe('GET /api/v1/projects/:project_id/calls', () => {
  test('lists calls newest first, page by page, with everything about them', async () => {
    const call = newCall({ charge: { mint: USDC, amount: 10_000n }, at: NOON, payer: alice.address });
    await fixture.book.finish(call);
    await fixture.book.finish(failedCall({ at: NOON, payer: alice.address }));
    await fixture.book.finish(newCall({ projectId: 'prj_other' }));
    const first = await fixture.ask(`${BASE}/calls?limit=1`, headers);
    const second = await fixture.ask(`${BASE}/calls?limit=1&cursor=${first.body.next_cursor}`, headers);

    expect(first.body).toMatchObject({ object: 'list', has_more: true });
    expect(first.body.data).toMatchObject([
      { outcome: 'failed', reason: 'upstream_timeout', status: null, amount: null, amount_atomic: null, token: null },
    ]);
    expect(second.body).toEqual({
      object: 'list',
      has_more: false,
      next_cursor: null,
      data: [
        {
          ...{ id: call.id, at: text(NOON), method: 'POST', status: 200, outcome: 'succeeded', reason: null },
          ...{ key_id: 'key_one', payer: alice.address, amount: '0.01', amount_atomic: '10000', token: 'USDC' },
          ...{ mint: USDC, payment_id: call.paymentId, signature: call.signature, duration_ms: 120, credit: null },
          pass_id: null,
          pass_uses: null,
          ...{ project_id: 'prj_weather', route: null, upstream_ms: null, gateway_ms: null },
          receipt_url: expect.stringContaining(`/api/v1/payments/${call.paymentId}/receipt`),
          request_id: call.requestId,
        },
      ],
    });
  });

  test('pages neither lose nor repeat a call of the same moment while new ones come, and keep to the filters', async () => {
    const ids: string[] = [];
    for (let at = 0; at < 7; at += 1) {
      const call = newCall({ at: NOON, route: '=GET /formula', payer: alice.address });
      ids.unshift(call.id);
      await fixture.book.finish(call);
    }
    await fixture.book.finish(failedCall({ at: NOON, route: '=GET /formula' }));
    await fixture.book.finish(newCall({ at: NOON - DAY_MS, route: '=GET /formula' }));
    const filters = `route=${encodeURIComponent('=GET /formula')}&key=key_one&status=succeeded&from=${text(NOON)}`;
    const seen: string[] = [];
    for (let cursor = ''; ; ) {
      const { body } = await fixture.ask(`${BASE}/calls?limit=2&${filters}${cursor}`, headers);
      seen.push(...body.data.map(({ id }: { readonly id: string }) => id));
      await fixture.book.finish(newCall({ at: NOON, route: '=GET /formula', payer: alice.address }));
      if (!body.has_more) break;
      cursor = `&cursor=${body.next_cursor}`;
    }
    expect(seen).toEqual(ids);
    const { text: table } = await fixture.ask(`${BASE}/calls?format=csv&${filters}`, headers);
    expect(table).toContain(",'=GET /formula,");
  });

  test.each([
    'cursor=nonsense',
    `cursor=${Buffer.from('["-1"]').toString('base64url')}`,
    'limit=0',
    'limit=101',
    'page=2',
  ])('?%s is refused', async (query) => {
    const { status, body } = await fixture.ask(`${BASE}/calls?${query}`, headers);
    expect([status, body.code]).toEqual([422, 'validation_failed']);
  });
});

describe.each(['analytics', 'calls'])('figures of a project (%s) are for its owner only', (what) => {
  test('nobody, others, keys without the scope and keys of another project are refused', async () => {
    const address = `${BASE}/${what}`;
    const asked = async (proof: ProofHeaders) => {
      const { status, body } = await fixture.ask(address, proof);
      return [status, body.code];
    };
    const key = async (owner: string, wanted: object) => keyHeaders(await fixture.make(owner, wanted));
    const unscoped = await key(alice.address, {});
    const scoped = await key(alice.address, { scopes: ['analytics:read'] });
    const foreign = await key(bob.address, { scopes: ['analytics:read'] });

    expect(await asked({})).toEqual([401, 'unauthenticated']);
    expect(await asked(await fixture.token(bob))).toEqual([404, 'project_not_found']);
    expect(await asked(unscoped)).toEqual([403, 'insufficient_scope']);
    expect(await asked(foreign)).toEqual([404, 'project_not_found']);
    expect(await asked(scoped)).toEqual([200, undefined]);
  });

  test('a key for one project sees no other of its owner', async () => {
    const bobs = { projectId: 'prj_other', scopes: ['analytics:read'] } as const;
    const proof = keyHeaders(await fixture.make(bob.address, bobs));
    expect((await fixture.ask(`/api/v1/projects/prj_other/${what}`, proof)).status).toBe(200);
    expect((await fixture.ask(`/api/v1/projects/prj_bobs_second/${what}`, proof)).status).toBe(404);
  });

  test('other methods are refused', async () => {
    const answer = await fetch(`${fixture.url}${BASE}/${what}`, { method: 'DELETE' });
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
  });
});
