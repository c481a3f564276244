import { type Dialect as Connection, Kysely, PostgresDialect, SqliteDialect, sql } from 'kysely';
import pg from 'pg';
import { openStorage } from '../../src/storage/open-storage.js';
import { oneSol } from '../../src/storage/sql/migrations/0012-one-sol.js';
import { type PostgresServer, startPostgres } from '../helpers/postgres.js';
import { openSqliteFile } from '../helpers/sqlite-file.js';
import { testFolder } from '../helpers/test-folder.js';

const folder = testFolder();
let server: PostgresServer;

beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server.stop());

const KINDS = [
  {
    dialect: 'sqlite',
    newUrl: async () => `sqlite:${folder.newPath('db')}`,
    connect: (url: string): Connection => new SqliteDialect({ database: () => openSqliteFile(url) }),
  },
  {
    dialect: 'postgres',
    newUrl: () => server.newDatabase(),
    connect: (url: string): Connection => new PostgresDialect({ pool: new pg.Pool({ connectionString: url }) }),
  },
] as const;

type Table = 'tollhouse_spend' | 'tollhouse_rollup' | 'tollhouse_reservation';

const NATIVE = '11111111111111111111111111111111';
const SOL = 'So11111111111111111111111111111111111111112';
const MAX = 9_223_372_036_854_775_807n;

const spent = { owner: 'alice', period: 'day', start: 0, project_id: '' };
const earned = { project_id: 'prj_1', hour: 0 };

describe.each(KINDS)('what was spent and earned in SOL before, on $dialect', ({ newUrl, connect }) => {
  let db: Kysely<Record<Table, Record<string, unknown>>>;

  beforeEach(async () => {
    const url = await newUrl();
    await (await openStorage(url)).close();
    db = new Kysely({ dialect: connect(url) });
  });
  afterEach(() => db.destroy());

  const rows = async (table: Table, columns: readonly string[], order: string) => {
    const found = await db
      .selectFrom(table)
      .select([...columns])
      .orderBy(order)
      .execute();
    return found.map((row) => columns.map((column) => String(row[column])));
  };

  test('is added up under one name, and nothing else changes', async () => {
    const budget = (key_id: string, mint: string, amount: bigint, calls: number, told_percent = 0) =>
      db
        .insertInto('tollhouse_spend')
        .values({ ...spent, key_id, mint, amount, calls, told_percent })
        .execute();
    await budget('both', NATIVE, 3n, 2);
    await budget('both', SOL, 4n, 1, 80);
    await budget('full', NATIVE, MAX, 1);
    await budget('full', SOL, 5n, 1);
    await budget('native', NATIVE, 7n, 1, 80);
    await budget('other', 'USDC', 9n, 1);
    for (const [kind, label, value] of [
      ['payers', NATIVE, 1n],
      ['revenue', NATIVE, 3n],
      ['revenue', SOL, 4n],
      ['revenue', 'USDC', 9n],
    ] as const) {
      await db
        .insertInto('tollhouse_rollup')
        .values({ ...earned, kind, label, value })
        .execute();
    }
    const held = { key_id: 'both', amount: 1n, hour: 0, day: 0, month: 0, ends_at: 0 };
    await db
      .insertInto('tollhouse_reservation')
      .values({ ...held, id: 'held', mint: NATIVE })
      .execute();

    // Twice: a step that is run again changes nothing more.
    for (let time = 0; time < 2; time += 1) await oneSol(sql).up(db);

    expect(await rows('tollhouse_spend', ['key_id', 'mint', 'amount', 'calls', 'told_percent'], 'key_id')).toEqual([
      ['both', SOL, '7', '3', '80'],
      ['full', SOL, String(MAX), '2', '0'],
      ['native', SOL, '7', '1', '80'],
      ['other', 'USDC', '9', '1', '0'],
    ]);
    expect(await rows('tollhouse_rollup', ['kind', 'label', 'value'], 'value')).toEqual([
      ['payers', NATIVE, '1'],
      ['revenue', SOL, '7'],
      ['revenue', 'USDC', '9'],
    ]);
    expect(await rows('tollhouse_reservation', ['id', 'mint'], 'id')).toEqual([['held', SOL]]);
  });
});
