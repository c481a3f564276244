import { openStorage } from '../../src/storage/open-storage.js';
import { oneSol } from '../../src/storage/sql/migrations/0012-one-sol.js';
import { emptyDatabases } from '../helpers/storage/empty-databases.js';
import { connectTo, insertRow, type OpenConnection } from '../helpers/storage/schema-connection.js';

const KINDS = emptyDatabases();

type Table = 'tollhouse_spend' | 'tollhouse_rollup' | 'tollhouse_reservation';

const NATIVE = '11111111111111111111111111111111';
const SOL = 'So11111111111111111111111111111111111111112';
const MAX = 9_223_372_036_854_775_807n;

const spent = { owner: 'alice', period: 'day', start: 0, project_id: '' };
const earned = { project_id: 'prj_1', hour: 0 };

describe.each(KINDS)('what was spent and earned in SOL before, on $dialect', ({ newUrl }) => {
  let db: OpenConnection;

  beforeEach(async () => {
    const url = await newUrl();
    await (await openStorage(url)).close();
    db = await connectTo(url);
  });
  afterEach(() => db.close());

  const rows = async (table: Table, columns: readonly string[], order: string) => {
    const found = await db.run(`select ${columns.join(', ')} from ${table} order by ${order}`);
    return found.map((row) => columns.map((column) => String(row[column])));
  };

  test('is added up under one name, and nothing else changes', async () => {
    const budget = (key_id: string, mint: string, amount: bigint, calls: number, told_percent = 0) =>
      insertRow(db, 'tollhouse_spend', { ...spent, key_id, mint, amount, calls, told_percent });
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
      await insertRow(db, 'tollhouse_rollup', { ...earned, kind, label, value });
    }
    const held = { key_id: 'both', amount: 1n, hour: 0, day: 0, month: 0, ends_at: 0 };
    await insertRow(db, 'tollhouse_reservation', { ...held, id: 'held', mint: NATIVE });

    // Twice: a step that is run again changes nothing more.
    for (const statement of [...oneSol(), ...oneSol()]) await db.run(statement);

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
