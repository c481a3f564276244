import { createSpending } from '../../../src/gateway/figures/spending.js';
import { SOL_MINT } from '../../../src/protocol/networks/tokens.js';
import { NATIVE_SOL } from '../../../src/solana/transaction/programs.js';
import { DAY_MS, dayOf, monthOf } from '../../../src/storage/calls/periods.js';
import { createSqlProjects } from '../../../src/storage/projects/sql-projects.js';
import { newCall } from '../../contracts/call-samples.js';
import { newProject } from '../../contracts/project-samples.js';
import { NOON } from '../../helpers/fixtures/identity-fixture.js';
import { keyHeaders } from '../../helpers/fixtures/keys-fixture.js';
import { mintOf, openMoneyFixture, TWIN_MINT } from '../../helpers/fixtures/money-fixture.js';
import type { ProofHeaders } from '../../helpers/http/sign-in.js';
import { walletKey } from '../../helpers/transactions/wallet-key.js';

const [alice, bob] = [walletKey('alice'), walletKey('bob')];
const [USDC, USDG] = [mintOf('USDC'), mintOf('USDG')];
const LIMIT = { limit: '1', token: 'USDC', window: 'day' } as const;
let fixture: Awaited<ReturnType<typeof openMoneyFixture>>;
let headers: ProofHeaders;

beforeEach(async () => {
  fixture = await openMoneyFixture({});
  headers = await fixture.token(alice);
});
afterEach(async () => {
  await fixture.book.close();
  await fixture.close();
});

const text = (time: number) => new Date(time).toISOString();
const spend = (keyId: string, amount: bigint, more: object = {}) => {
  const caller = { keyId, owner: alice.address };
  return fixture.book.finish(newCall({ caller, charge: { mint: USDC, amount }, at: NOON, ...more }));
};

describe('GET /api/v1/spending', () => {
  test('tells what was spent by key, project and token, by day, and what is left of budgets', async () => {
    const [one, two] = [await fixture.make(alice.address, { spending: LIMIT }), await fixture.make(alice.address)];
    await spend(one.key.id, 250_000n);
    await spend(one.key.id, 50_000n, { at: NOON - DAY_MS, projectId: 'prj_other' });
    await spend(two.key.id, 7n, { charge: { mint: USDG, amount: 7n } });
    const { status, body } = await fixture.ask('/api/v1/spending', headers);
    const usdc = { token: 'USDC', mint: USDC };
    const unknown = { network: null, mode: null };

    expect(status).toBe(200);
    expect(body).toMatchObject({
      interval: 'day',
      from: text(dayOf(NOON) - 30 * DAY_MS),
      to: text(dayOf(NOON) + DAY_MS),
    });
    expect(body.totals).toHaveLength(2);
    expect(body.totals).toContainEqual({ ...usdc, ...unknown, amount: '0.3', amount_atomic: '300000', calls: 2 });
    expect(body.spending).toHaveLength(3);
    expect(body.spending).toContainEqual({
      ...{ ...usdc, ...unknown },
      ...{
        key_id: one.key.id,
        project_id: 'prj_weather',
        project: null,
        amount: '0.25',
        amount_atomic: '250000',
        calls: 1,
      },
    });
    expect(body.series).toHaveLength(31);
    expect(body.series[29]).toMatchObject({ calls: 1, spent: { USDC: '0.05', USDG: '0' } });
    expect(body.series[30]).toEqual({
      ...{ t: text(dayOf(NOON)), calls: 2 },
      ...{ spent: { USDC: '0.25', USDG: '0.000007' }, spent_atomic: { USDC: '250000', USDG: '7' } },
    });
    expect(body.budgets).toEqual([
      {
        ...{ ...usdc, key_id: one.key.id, window: 'day', action: 'block', resets_at: text(dayOf(NOON) + DAY_MS) },
        ...{ limit: '1', limit_atomic: '1000000', used: '0.25', used_atomic: '250000' },
        ...{ held: '0', held_atomic: '0', left: '0.75', left_atomic: '750000' },
      },
    ]);
  });

  test('tells native and wrapped SOL as one money, and two tokens with one symbol as two', async () => {
    const { key } = await fixture.make(alice.address, { spending: { limit: '5', token: 'SOL', window: 'day' } });
    const charges = [
      { mint: SOL_MINT, amount: 3_000_000_000n },
      { mint: NATIVE_SOL, amount: 1_000_000_000n },
      { mint: USDC, amount: 10_000n },
      { mint: TWIN_MINT, amount: 5_000_000n },
    ];
    for (const charge of charges) await spend(key.id, 0n, { charge });
    const { body } = await fixture.ask('/api/v1/spending', headers);
    expect(body.totals).toHaveLength(3);
    expect(body.totals).toContainEqual({
      ...{
        token: 'SOL',
        mint: SOL_MINT,
        network: null,
        mode: null,
        amount: '4',
        amount_atomic: '4000000000',
        calls: 2,
      },
    });
    expect(Object.values(body.series.at(-1).spent).sort()).toEqual(['0.01', '4', '5']);
    expect(body.series.at(-1).spent.SOL).toBe('4');
    expect(body.budgets).toMatchObject([{ token: 'SOL', used: '4', left: '1' }]);
  });

  test('is told by month as well, and for one key, one project or a range', async () => {
    const [one, two] = [await fixture.make(alice.address), await fixture.make(alice.address)];
    await spend(one.key.id, 1n);
    await spend(one.key.id, 2n, { at: NOON - 10 * DAY_MS, projectId: 'prj_other' });
    await spend(two.key.id, 4n);
    const total = async (query: string) => {
      const { body } = await fixture.ask(`/api/v1/spending?${query}`, headers);
      return [body.totals[0]?.amount_atomic, body.series.length];
    };
    const january = monthOf(NOON);

    expect(await total('interval=month')).toEqual(['7', 13]);
    expect(await total(`key=${one.key.id}`)).toEqual(['3', 31]);
    expect(await total('project=prj_other')).toEqual(['2', 31]);
    expect(await total(`from=${text(january)}`)).toEqual(['5', 2]);
    expect(await total(`interval=month&from=${text(january - 1)}`)).toEqual(['7', 2]);
    expect(await total('project=prj_nobody')).toEqual([undefined, 31]);
  });

  test('a key sees its own spending only, and a wallet that of its own keys', async () => {
    const [one, two] = [await fixture.make(alice.address, { spending: LIMIT }), await fixture.make(alice.address)];
    const bobs = await fixture.make(bob.address);
    await spend(one.key.id, 1n);
    await spend(two.key.id, 2n);
    const own = await fixture.ask('/api/v1/spending', keyHeaders(one));
    const refused = async (query: string, proof: ProofHeaders) => {
      const { status, body } = await fixture.ask(`/api/v1/spending${query}`, proof);
      return [status, body.code];
    };

    expect(own.body.spending).toMatchObject([{ key_id: one.key.id, amount_atomic: '1' }]);
    expect(own.body.budgets).toMatchObject([{ key_id: one.key.id, used_atomic: '1' }]);
    expect((await fixture.ask(`/api/v1/spending?key=${one.key.id}`, keyHeaders(one))).status).toBe(200);
    expect((await fixture.ask('/api/v1/spending', await fixture.token(bob))).body).toMatchObject({
      spending: [],
      budgets: [],
    });
    expect(await refused(`?key=${two.key.id}`, keyHeaders(one))).toEqual([404, 'not_found']);
    expect(await refused(`?key=${bobs.key.id}`, headers)).toEqual([404, 'not_found']);
    expect(await refused('', {})).toEqual([401, 'unauthenticated']);
    const scopes = ['call'] as const;
    expect(await refused('', keyHeaders(await fixture.make(alice.address, { scopes })))).toEqual([
      403,
      'insufficient_scope',
    ]);
  });

  test('tells of what money credit is, and that of the network, the kind, the project and the key that are asked for', async () => {
    const [one, two] = [await fixture.make(alice.address), await fixture.make(alice.address)];
    for (const [projectId, network] of [
      ['prj_live', 'solana'],
      ['prj_test', 'solana-devnet'],
    ] as const) {
      const project = newProject({ id: projectId, slug: projectId.replace('_', '-') });
      const price = { ...project.price, network };
      await createSqlProjects(fixture.database).create({ ...project, price }, undefined, []);
    }
    const { charge: _charge, ...uncharged } = newCall();
    const give = async (keyId: string, projectId: string, amount: bigint) => {
      const credit = { kind: 'given', charge: { mint: SOL_MINT, amount } } as const;
      await fixture.book.finish({ ...uncharged, caller: { keyId, owner: alice.address }, projectId, credit, at: NOON });
    };
    await give(one.key.id, 'prj_live', 1n);
    await give(one.key.id, 'prj_test', 2n);
    await give(two.key.id, 'prj_test', 3n);
    await give(two.key.id, 'prj_unknown', 4n);
    const told = async (query: string) => {
      const { body } = await fixture.ask(`/api/v1/spending?${query}`, headers);
      const credit = body.credit.map((it: Record<string, unknown>) => [it['amount_atomic'], it['network'], it['mode']]);
      return credit.sort();
    };
    const [live, test1, test2] = [
      ['1', 'solana', 'live'],
      ['2', 'solana-devnet', 'test'],
      ['3', 'solana-devnet', 'test'],
    ];

    expect(await told('')).toEqual([live, test1, test2, ['4', null, null]]);
    expect(await told('mode=live')).toEqual([live]);
    expect(await told('mode=test')).toEqual([test1, test2]);
    expect(await told('network=solana-devnet')).toEqual([test1, test2]);
    expect(await told('network=solana-testnet')).toEqual([]);
    expect(await told(`mode=test&key=${one.key.id}`)).toEqual([test1]);
    expect(await told('mode=live&project=prj_test')).toEqual([]);
  });

  test('never adds up money of a test network and of mainnet, and tells the one or the other where it is asked for', async () => {
    const { key } = await fixture.make(alice.address);
    for (const [projectId, network] of [
      ['prj_live', 'solana'],
      ['prj_test', 'solana-devnet'],
      ['prj_other', 'solana-testnet'],
    ] as const) {
      const project = newProject({ id: projectId, slug: projectId.replace('_', '-') });
      const price = { ...project.price, network };
      await createSqlProjects(fixture.database).create({ ...project, price }, undefined, []);
    }
    const SOL = (amount: bigint) => ({ charge: { mint: SOL_MINT, amount } });
    await spend(key.id, 0n, { projectId: 'prj_live', ...SOL(3_000_000_000n) });
    await spend(key.id, 0n, { projectId: 'prj_test', ...SOL(5_000_000_000n) });
    await spend(key.id, 0n, { projectId: 'prj_test', ...SOL(6_000_000_000n) });
    await spend(key.id, 0n, { projectId: 'prj_other', ...SOL(7_000_000_000n) });
    const told = async (query: string) => {
      const { body } = await fixture.ask(`/api/v1/spending?${query}`, headers);
      const totals = body.totals.map((it: Record<string, unknown>) => [it['network'], it['mode'], it['amount']]);
      return [totals.sort(), body.series.at(-1).spent];
    };
    const [live, dev, other] = [
      ['solana', 'live', '3'],
      ['solana-devnet', 'test', '11'],
      ['solana-testnet', 'test', '7'],
    ];

    expect(await told('')).toEqual([
      [live, dev, other],
      { SOL: '3', 'SOL (solana-devnet)': '11', 'SOL (solana-testnet)': '7' },
    ]);
    expect(await told('mode=live')).toEqual([[live], { SOL: '3' }]);
    expect(await told('mode=test')).toEqual([
      [dev, other],
      { 'SOL (solana-devnet)': '11', 'SOL (solana-testnet)': '7' },
    ]);
    expect(await told('network=solana-devnet&interval=month')).toEqual([[dev], { SOL: '11' }]);
    expect(await told('network=solana-devnet&mode=live')).toEqual([[], {}]);
  });

  test.each(['interval=hour', 'from=2000-01-01T00:00:00Z', 'key=', 'wallet=x', 'mode=any', 'network=x'])(
    '?%s is refused',
    async (query) => {
      const { status, body } = await fixture.ask(`/api/v1/spending?${query}`, headers);
      expect([status, body.code]).toEqual([422, 'validation_failed']);
    },
  );
});

test('what a key holds back and spends is what its owner is shown', async () => {
  const { key } = await fixture.make(alice.address, { spending: LIMIT });
  const spending = createSpending({ book: fixture.book, describeToken: async () => ({ symbol: 'USDC', decimals: 6 }) });
  const call = { key, charge: { mint: USDC, amount: 600_000n }, at: NOON };
  const held = await spending.hold(call, 'one payment');
  await expect(spending.hold(call, 'another')).rejects.toMatchObject({ code: 'spending_limit_reached' });
  await fixture.book.finish(
    newCall({ caller: { keyId: key.id, owner: key.owner }, charge: call.charge, at: NOON }),
    held === undefined ? {} : { reservationId: held.id },
  );
  const { body } = await fixture.ask('/api/v1/spending', headers);
  expect(body.budgets).toMatchObject([{ used: '0.6', left: '0.4' }]);
});
