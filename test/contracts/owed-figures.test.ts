import { passesOwed } from '../../src/gateway/figures/passes-owed.js';
import { readOwed } from '../../src/storage/books/owed-figures.js';
import { openStorage } from '../../src/storage/open-storage.js';
import type { Storage } from '../../src/storage/storage.js';
import { testFolder } from '../helpers/processes/test-folder.js';
import { startPostgres } from '../helpers/storage/postgres.js';

const folder = testFolder();
const DATABASES = [
  ['SQLite', async () => ({ url: `sqlite:${folder.newPath('db')}`, stop: async () => {} })],
  [
    'PostgreSQL',
    async () => {
      const postgres = await startPostgres();
      return { url: await postgres.newDatabase(), stop: postgres.stop };
    },
  ],
] as const;
const KEYS = 2_500;
const LIVE = 'solana';
const TEST = 'solana-devnet';

describe.each(DATABASES)('what is owed by all together, on %s,', (_name, openDatabase) => {
  let storage: Storage;
  let stop: () => Promise<void>;

  beforeEach(async () => {
    const database = await openDatabase();
    stop = database.stop;
    storage = await openStorage(database.url);
    const numbers = `with recursive n(i) as (select 1 union all select i + 1 from n where i < ${KEYS})`;
    await run(
      'projects',
      `insert into tollhouse_project (id, owner, slug, state, visibility, version, amount, mint, symbol, price_key, tags, search, details, secret, network, created_at, updated_at)
        values ('prj_live', 'o', 'live', 'active', 'listed', 1, 1, 'mint', 'M', 'a', '[]', '', '{}', 's', '${LIVE}', 0, 0),
          ('prj_test', 'o', 'test', 'active', 'listed', 1, 1, 'mint', 'M', 'a', '[]', '', '{}', 's', '${TEST}', 0, 0)`,
    );
    await run(
      'credit',
      `insert into tollhouse_credit (key_id, project_id, mint, owner, amount)
        ${numbers} select 'key_' || i, case when i % 5 = 0 then 'prj_live' else 'prj_test' end, 'mint', 'o', i from n`,
    );
    await run(
      'holds',
      `insert into tollhouse_credit_hold (id, key_id, project_id, mint, amount, ends_at)
        values ('a', 'key_5', 'prj_live', 'mint', 1000000, 1), ('b', 'key_5', 'prj_live', 'mint', 9000000000000000000, 1)`,
    );
    await run(
      'payments',
      `insert into tollhouse_payment (id, state, binding, payer, network, asset, amount, pay_to, terms, blockhash, claimed_at, lease_ends, buys, project_id)
        ${numbers} select 'p' || i, 'served', 'b', 'payer', case when i % 2 = 0 then '${LIVE}' else '${TEST}' end, 'mint', 100, 'to', '{}', 'h', 0, 0, '{}',
          case when i % 2 = 0 then 'prj_live' end from n`,
    );
    await run(
      'landed',
      `insert into tollhouse_payment (id, state, binding, payer, network, asset, amount, pay_to, terms, blockhash, claimed_at, finished_at, lease, lease_ends, project_id)
        ${numbers} select 'l' || i, case when i % 3 = 0 then 'broadcast' when i % 5 = 0 then 'served' else 'confirmed' end, 'b', 'buyer',
          case when i % 2 = 0 then '${LIVE}' else '${TEST}' end, 'mint', case when i = 1 then -1 else i end, 'to', '{}', 'h', i,
          case when i % 3 <> 0 and i % 5 = 0 then 9 end, case when i % 4 = 0 then 'lease' end, case when i % 8 = 0 then 9000000000000 else i % 7 end,
          case when i % 2 = 0 then 'prj_live' end from n`,
    );
    await run(
      'credits',
      `insert into tollhouse_pass (id, payment_id, wallet, site, scope, kind, mint, bought, remaining, serial, opened_at)
        values ('credit7', 'l7', 'buyer', 's', 'sc', 'credit', 'mint', 7, 3, 0, 0)`,
    );
    await run(
      'passes',
      `insert into tollhouse_pass (id, payment_id, wallet, site, scope, kind, bought, remaining, serial, opened_at, ends_at, revoked_at)
        ${numbers} select 'pass' || i, 'p' || i, 'w', 's', 'sc', 'uses', 10, i % 11, 0, 0,
          case when i % 7 = 0 then 5 end, case when i % 13 = 0 then 1 end from n`,
    );
  });
  afterEach(async () => {
    await storage.close();
    await stop();
  });

  const run = (name: string, text: string) => storage.database.query({ name: `test_owed_${name}`, text });

  test('is every key’s credit with what calls hold of it, live money apart from that of tests', async () => {
    const { credit } = await readOwed(storage.database, 10);
    const sum = (network: string) =>
      credit.filter((it) => it.network === network).reduce((all, { amount }) => all + amount, 0n);
    const all = BigInt((KEYS * (KEYS + 1)) / 2);
    const live = 5n * BigInt(((KEYS / 5) * (KEYS / 5 + 1)) / 2);
    expect(sum(LIVE)).toBe(live + 1_000_000n + 9_000_000_000_000_000_000n);
    expect(sum(TEST)).toBe(all - live);
  });

  test('is every payment that has landed, that nobody is about to serve, and that left no credit', async () => {
    const { responses } = await readOwed(storage.database, 10);
    const expected = { [LIVE]: { count: 0, amount: 0n, oldest: 0 }, [TEST]: { count: 0, amount: 0n, oldest: 0 } };
    for (let i = 1; i <= KEYS; i += 1) {
      if (i % 3 === 0 || i % 5 === 0 || i % 8 === 0 || i === 7) continue;
      const sum = expected[i % 2 === 0 ? LIVE : TEST]!;
      sum.count += 1;
      sum.amount += i === 1 ? 2n ** 64n - 1n : BigInt(i);
      sum.oldest ||= i;
    }
    const on = (network: string) => {
      const some = responses.filter((it) => it.network === network);
      return {
        count: some.reduce((all, { count }) => all + count, 0),
        amount: some.reduce((all, { amount }) => all + amount, 0n),
        oldest: Math.min(...some.map(({ oldestAt }) => oldestAt)),
      };
    };
    expect({ [LIVE]: on(LIVE), [TEST]: on(TEST) }).toEqual(expected);
    const { responses: own } = storage.gateway;
    const { count, amount } = expected[LIVE]!;
    expect(await own.owedAt('prj_live')).toMatchObject([{ network: LIVE, mint: 'mint', count, amount }]);
    const bought = await own.owedTo('buyer');
    expect([bought.length, bought[0]?.paymentId]).toEqual([100, 'l2498']);
    expect((await own.owedTo('buyer', { projectId: 'prj_live' })).every((it) => it.projectId === 'prj_live')).toBe(
      true,
    );
  });

  test('is every pass that is good still, as each project counts its own, and what is left of what failed', async () => {
    const { passes } = await readOwed(storage.database, 10);
    // Of the credit.
    const expected = { [LIVE]: 0n, [TEST]: 3n };
    for (let i = 1; i <= KEYS; i += 1) {
      if (i % 7 === 0 || i % 13 === 0) continue;
      expected[i % 2 === 0 ? LIVE : TEST]! += BigInt((i % 11) * 10);
    }
    const on = (network: string) => passesOwed(passes.filter((it) => it.network === network));
    expect([on(LIVE).owed.get('mint'), on(TEST).owed.get('mint')]).toEqual([expected[LIVE], expected[TEST]]);
    const own = passesOwed(await storage.gateway.passSales.openAt('prj_live'));
    expect([on(LIVE).open, on(LIVE).owed.get('mint')]).toEqual([own.open, own.owed.get('mint')]);
  });
});
