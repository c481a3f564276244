import { restedReader } from '../../src/http/service/figures/rested-reader.js';
import { createMetrics } from '../../src/http/service/metrics.js';
import { openStorage } from '../../src/storage/open-storage.js';
import type { SqlDatabase } from '../../src/storage/sql/sql-database.js';
import type { Storage } from '../../src/storage/storage.js';
import { openTollFixture, type TollFixture } from '../helpers/fixtures/toll-fixture.js';
import { type Figures, readFigures } from '../helpers/http/figures.js';
import { testFolder } from '../helpers/processes/test-folder.js';
import { startPostgres } from '../helpers/storage/postgres.js';

const folder = testFolder();
const MANY = 100_000;
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

let toll: TollFixture;
beforeAll(async () => {
  toll = await openTollFixture();
});
afterAll(() => toll.close());

/** Numbers from 1 on, as a table `n` with a column `i`. */
const numbers = `with recursive n(i) as (select 1 union all select i + 1 from n where i < ${MANY})`;

/** Fills a database with so many events, deliveries, payments and passes, most of which nothing waits for. */
async function fill(database: SqlDatabase, now: number): Promise<void> {
  const run = (name: string, text: string) => database.query({ name: `test_${name}`, text });
  await run(
    'webhook',
    `insert into tollhouse_webhook (id, owner, url, events, secret, status, created_at, updated_at) values
      ('whk_on', 'o', 'https://a.example', '["*"]', 's', 'enabled', 0, 0), ('whk_off', 'o', 'https://a.example', '["*"]', 's', 'disabled', 0, 0)`,
  );
  await run(
    'deliveries',
    `insert into tollhouse_delivery (id, event_id, webhook_id, state, next_at, created_at, finished_at)
      ${numbers} select 'dlv_' || i, 'evt_' || i, case when i = 7 then 'whk_off' else 'whk_on' end,
        case when i <= 1000 then 'pending' else 'delivered' end,
        case when i = 7 then 1 when i = 8 then ${now - 90_000} when i <= 1000 then ${now + 60_000} end, 0, case when i > 1000 then ${now} end from n`,
  );
  await run(
    'payments',
    `insert into tollhouse_payment (id, state, binding, payer, network, asset, amount, pay_to, terms, blockhash, claimed_at, finished_at, lease_ends)
      ${numbers} select 'p' || i, case when i <= 3 then 'broadcast' else 'served' end, 'b', 'payer', 'solana-devnet', 'mint', 5, 'to', '{}', 'h',
        ${now} - 1000 * i, case when i > 3 then ${now} end, 0 from n`,
  );
  await run(
    'payouts',
    `insert into tollhouse_payout (id, project_id, owner, network, wallet, mint, state, legs, total, reason, created_at, updated_at)
      ${numbers} select 'pyo_' || i, 'prj_' || i, 'o', 'solana-devnet', 'w', 'm',
        case when i <= 2 then 'broadcast' when i <= 6 then 'failed' else 'paid' end, '[]', '0',
        case when i = 1 then 'outcome_unknown' end, case when i = 6 then 1 else ${now} - i end, 0 from n where i <= 1000`,
  );
}

describe.each(DATABASES)('what waits in a database, on %s,', (_name, openDatabase) => {
  let storage: Storage;
  let stop: () => Promise<void>;
  let url: string;
  let asked = 0;

  beforeAll(async () => {
    const database = await openDatabase();
    ({ stop, url } = database);
    storage = await openStorage(url);
    await fill(storage.database, Date.now());
  });
  afterAll(async () => {
    await storage.close();
    await stop();
  });

  /** The figures of a service on the storage, whose statements are counted. */
  function figuresOn(change: Partial<SqlDatabase> = {}): () => Promise<Figures> {
    const { database } = storage;
    const counted: SqlDatabase = {
      ...database,
      query: (...step) => {
        asked += 1;
        return database.query(...step);
      },
      ...change,
    };
    const metrics = createMetrics({ ...toll.facilitatorWith({}), storage: { ...storage, database: counted } });
    return async () => readFigures((await metrics.expose())!.text);
  }

  test('is told as it is', async () => {
    const figures = await figuresOn()();
    const value = (name: string, labels = {}) => figures.value(name, labels);
    // A receiver that is told nothing any more is behind with nothing.
    expect(value('tollhouse_webhook_deliveries_pending')).toBe(999);
    expect(Math.floor(value('tollhouse_webhook_overdue_seconds')! / 10)).toBeGreaterThanOrEqual(9);
    expect(value('tollhouse_payments_unresolved', { network: 'solana-devnet' })).toBe(3);
    expect(value('tollhouse_payments_unresolved_oldest_seconds')).toBeGreaterThanOrEqual(3);
    const states = ['open', 'unknown', 'failed'].map((state) => value('tollhouse_payouts', { state }));
    expect(states).toEqual([1, 1, 3]);
  });

  test('is asked for once, however often and by however many the figures are', async () => {
    const look = figuresOn();
    asked = 0;
    await Promise.all(Array.from({ length: 20 }, look));
    const once = asked;
    for (let n = 0; n < 20; n += 1) await look();
    expect(asked).toBe(once);
    expect(once).toBeLessThan(40);
  });

  test('is missing while the database does not answer, and the other figures are there', async () => {
    const closed = await openStorage(url);
    await closed.close();
    const metrics = createMetrics({ ...toll.facilitatorWith({}), storage: closed });
    const figures = readFigures((await metrics.expose())!.text);
    expect(figures.labels.has('tollhouse_payouts')).toBe(false);
    expect(figures.labels.has('tollhouse_webhook_overdue_seconds')).toBe(false);
    expect(figures.labels.has('tollhouse_prune_lag_seconds')).toBe(false);
    expect(figures.value('tollhouse_rpc_up', { network: 'solana-devnet' })).toBe(1);
  });

  test('is missing where the database hangs, for whoever asks then', async () => {
    let answer = (_rows: never[]): void => {};
    const look = figuresOn({
      query: () =>
        new Promise((resolve) => {
          answer = resolve;
        }),
    });
    const figures = await look();
    expect(figures.labels.has('tollhouse_payouts')).toBe(false);
    answer([]);
  });
});

describe('a reader that rests', () => {
  test('reads again when it has rested, and not before', async () => {
    let read = 0;
    const look = restedReader(async () => ++read, { leastMs: 3_600_000, times: 1 });
    expect([await look(), await look()]).toEqual([1, 1]);
    const restless = restedReader(async () => ++read, { leastMs: -1, times: 0 });
    expect([await restless(), await restless()]).toEqual([2, 3]);
  });

  test('rests after a failure too, and shows nothing of what it has read before', async () => {
    let tries = 0;
    const look = restedReader(
      async () => {
        tries += 1;
        throw new Error('gone');
      },
      { leastMs: 3_600_000, times: 1 },
    );
    expect([await look(), await look(), tries]).toEqual([undefined, undefined, 1]);
  });
});
