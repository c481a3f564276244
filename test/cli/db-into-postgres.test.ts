import { mkdtempSync, readdirSync } from 'node:fs';
import { db } from '../../src/cli/books/db.js';
import { openStorage } from '../../src/storage/open-storage.js';
import { newClaim } from '../contracts/ledger-samples.js';
import { runCommand } from '../helpers/processes/run-command.js';
import { testFolder } from '../helpers/processes/test-folder.js';
import { startPostgres } from '../helpers/storage/postgres.js';
import { openSqliteFile } from '../helpers/storage/sqlite-file.js';

const folder = testFolder();
const tollhouse = (url: string, ...args: readonly string[]) => runCommand(db, { DATABASE_URL: url }, args);
let server: Awaited<ReturnType<typeof startPostgres>>;

beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server.stop());

type Rows = readonly Readonly<Record<string, unknown>>[];

/** More than are copied at once. */
const ROWS = 1_100;
const TABLES = `select name from sqlite_master where type = 'table' and name like 'tollhouse_%' and name not like '%migration%' order by rowid`;

/** A new SQLite file with the schema and nothing in it. */
async function emptyBooks() {
  const url = `sqlite:${folder.newPath('db')}`;
  await (await openStorage(url)).close();
  return url;
}

/** A backup with rows in every table, whatever they mean, and all of these rows. */
async function everyTable() {
  const url = await emptyBooks();
  const connection = await openSqliteFile(url);
  const all = new Map<string, Rows>();
  connection.exec('begin');
  for (const { name } of connection.prepare(TABLES).all([])) {
    const columns = connection.prepare(`select * from pragma_table_info('${name}')`).all([]);
    const names = columns.map((it) => `"${it['name']}"`).join(', ');
    const insert = connection.prepare(`insert into ${name} (${names}) values (${columns.map(() => '?').join(', ')})`);
    for (let row = 1; row <= ROWS; row += 1) insert.run(columns.map((it) => sample(String(it['type']), row)));
    all.set(String(name), connection.prepare(`select * from ${name}`).all([]));
  }
  connection.exec('commit');
  connection.close();
  const backup = folder.newPath('backup');
  await tollhouse(url, 'backup', backup);
  return { all, backup };
}

function sample(type: string, row: number): string | number | Uint8Array {
  if (/int/i.test(type)) return row;
  return /blob/i.test(type) ? Buffer.from([0, row >> 8, row & 255, 0xff]) : `text ${row} ü 😀`;
}

/** Numbers come as text, as number or as bigint, bytes as one kind of them or another. */
const plain = (rows: Rows) =>
  rows
    .map((row) => {
      const fields = Object.entries(row).map(([name, it]) => {
        return `${name}=${it instanceof Uint8Array ? Buffer.from(it).toString('hex') : String(it)}`;
      });
      return fields.sort().join('|');
    })
    .sort();

test('a backup of SQLite is restored into Postgres with all that is in any of its tables', async () => {
  const { all, backup } = await everyTable();
  const url = await server.emptyDatabase();
  const aside = mkdtempSync(folder.newPath('aside'));
  const env = { DATABASE_URL: url, TMPDIR: aside };
  expect(await runCommand(db, env, ['restore', backup])).toMatchObject({ code: 0 });
  expect(readdirSync(aside)).toEqual([]);
  expect(all.size).toBeGreaterThan(30);
  for (const [name, rows] of all) {
    const found = await server.query(url, `select * from ${name}`);
    // When it was restored is written down.
    const isMoments = name === 'tollhouse_moment';
    const [here, there] = [plain(found as Rows), plain(rows)];
    expect([name, isMoments ? here.length > there.length : here]).toEqual([name, isMoments ? true : there]);
  }
});

test('what Postgres numbers itself goes on behind what was restored', async () => {
  const { backup } = await everyTable();
  const url = await server.emptyDatabase();
  await tollhouse(url, 'restore', backup);
  const [event] = await server.query(
    url,
    `insert into tollhouse_event (id, type, at, owner, data) values ('new', 'x', 1, 'x', '{}') returning seq`,
  );
  expect(Number(Reflect.get(event ?? {}, 'seq'))).toBe(ROWS + 1);
});

test('what was open in the backup is ended there as in a file, and the books go on', async () => {
  const from = await emptyBooks();
  const storage = await openStorage(from);
  const [claimed, sent, owed] = [newClaim(), newClaim(), newClaim()];
  for (const claim of [claimed, sent, owed]) await storage.ledger.claim(claim);
  await storage.ledger.recordBroadcast(sent.id, sent.lease, { signature: 'sent' });
  await storage.ledger.recordBroadcast(owed.id, owed.lease, { signature: 'owed' });
  await storage.ledger.recordOutcome(owed.id, owed.lease, { state: 'confirmed', slot: 7, signature: 'owed' });
  await storage.close();
  const backup = folder.newPath('backup');
  await tollhouse(from, 'backup', backup);

  const url = await server.emptyDatabase();
  const { text } = await tollhouse(url, 'restore', backup, '--json');
  expect(JSON.parse(text.slice(text.indexOf('{')))).toMatchObject({ ended: [owed.id], sent: 1, forgotten: 1 });
  const restored = await openStorage(url);
  const states = await Promise.all(
    [claimed, sent, owed].map(async ({ id }) => (await restored.ledger.find(id))?.state),
  );
  const again = await restored.ledger.claim(newClaim());
  await restored.close();
  expect([states, again.status]).toEqual([[undefined, 'broadcast', 'served'], 'won']);
});

test('what cannot be restored leaves nothing behind', async () => {
  const from = await emptyBooks();
  const connection = await openSqliteFile(from);
  connection
    .prepare(`insert into tollhouse_event (id, type, at, owner, data) values (?, 'x', 1, 'x', '{}')`)
    .run(['a text with \u0000, which Postgres does not hold']);
  connection.close();
  const backup = folder.newPath('backup');
  await tollhouse(from, 'backup', backup);
  const url = await server.emptyDatabase();
  await expect(tollhouse(url, 'restore', backup)).rejects.toMatchObject({
    code: 'backup_failed',
    message: expect.stringMatching(/tollhouse_event cannot be copied into Postgres: .*; nothing was restored/),
  });
  expect(await server.query(url, `select 1 from pg_tables where tablename like 'tollhouse%'`)).toEqual([]);
  const whole = folder.newPath('backup');
  await tollhouse(await emptyBooks(), 'backup', whole);
  expect(await tollhouse(url, 'restore', whole)).toMatchObject({ code: 0 });
  await expect(tollhouse(url, 'restore', whole)).rejects.toMatchObject({
    code: 'backup_failed',
    message: expect.stringMatching(/has tables of Tollhouse already/),
  });
});
