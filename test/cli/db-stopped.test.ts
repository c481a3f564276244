import type { ChildProcess } from 'node:child_process';
import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { db } from '../../src/cli/books/db.js';
import { openStorage } from '../../src/storage/open-storage.js';
import { newClaim } from '../contracts/ledger-samples.js';
import { openTcpRelay } from '../helpers/nodes/tcp-relay.js';
import { runCommand } from '../helpers/processes/run-command.js';
import { endOf, runFile, stopFiles } from '../helpers/processes/run-file.js';
import { testFolder } from '../helpers/processes/test-folder.js';
import { holdPostgres } from '../helpers/storage/held-postgres.js';
import { type InstalledPostgres, startInstalledPostgres } from '../helpers/storage/installed-postgres.js';
import { openSqliteFile } from '../helpers/storage/sqlite-file.js';
import { until } from '../helpers/until.js';

const folder = testFolder();
const tollhouse = (url: string, ...args: readonly string[]) => runCommand(db, { DATABASE_URL: url }, args);
/** `pg_restore` waits for whoever makes one of its tables. */
const HOLD = 'create table tollhouse_webhook (held int)';
let server: InstalledPostgres | undefined;
let backup: string;
let owed: string;

beforeAll(async () => {
  server = await startInstalledPostgres();
  if (server === undefined) return;
  const url = await server.emptyDatabase();
  const storage = await openStorage(url);
  const claim = newClaim();
  owed = claim.id;
  await storage.ledger.claim(claim);
  await storage.ledger.recordBroadcast(owed, claim.lease, { signature: 'owed' });
  await storage.ledger.recordOutcome(owed, claim.lease, { state: 'confirmed', slot: 7, signature: 'owed' });
  await storage.close();
  backup = folder.newPath('dump');
  await tollhouse(url, 'backup', backup);
});
afterEach(stopFiles);
afterAll(() => server?.stop());

function testHere(name: string, run: (server: InstalledPostgres) => Promise<void>): void {
  test(name, async () => {
    if (server === undefined) console.warn('SKIPPED, no PostgreSQL server is installed beside pg_dump');
    else await run(server);
  });
}

/** Starts a command as a process, with a folder of its own for what it puts aside. */
function start(url: string, ...args: readonly string[]) {
  const aside = folder.newPath('aside');
  mkdirSync(aside);
  const child: ChildProcess = runFile('src/cli/main.ts', ['db', ...args], { DATABASE_URL: url, TMPDIR: aside });
  return { child, ended: endOf(child), aside };
}

/** Starts a restore; answers it when its `pg_restore` is held. */
async function heldRestore(url: string, way = url) {
  const hold = await holdPostgres(url, HOLD);
  const started = start(way, 'restore', backup);
  await hold.waits('pg_restore');
  return { hold, ...started };
}

const UNSETTLED = {
  code: 'bad_option',
  message: expect.stringMatching(/restore that was broken off .* run "npx tollhouse db restored"/),
};

testHere(
  'what a restore leaves that is killed cannot be opened before "db restored" has settled it',
  async (postgres) => {
    const url = await postgres.emptyDatabase();
    const { hold, child, ended } = await heldRestore(url);
    child.kill('SIGKILL');
    await ended;
    await hold.letGo();
    await hold.isGone('pg_restore');
    await expect(openStorage(url)).rejects.toMatchObject(UNSETTLED);
    for (const args of [['status'], ['migrate'], ['backup', folder.newPath('dump')], ['restore', backup]])
      await expect(tollhouse(url, ...args)).rejects.toMatchObject(UNSETTLED);

    const { text } = await tollhouse(url, 'restored', '--json');
    expect(JSON.parse(text)).toMatchObject({ ended: [owed] });
    const storage = await openStorage(url);
    const { state } = (await storage.ledger.find(owed)) ?? {};
    const { remembersUntil } = storage.ledger;
    await storage.close();
    expect([state, remembersUntil]).toEqual(['served', expect.any(Number)]);
  },
);

testHere(
  'a restore that loses the database behind pg_restore says that the books are in, and what to run',
  async (postgres) => {
    const url = await postgres.emptyDatabase();
    const relay = await openTcpRelay(url);
    const { hold, ended } = await heldRestore(url, relay.url);
    relay.refuses = true;
    await hold.letGo();
    const { code, text } = await ended;
    await relay.close();
    expect([code, text]).toEqual([
      1,
      expect.stringMatching(/the books are in the database, what they have lost is not marked .* db restored"/),
    ]);
    await expect(openStorage(url)).rejects.toMatchObject(UNSETTLED);
    expect(await tollhouse(url, 'restored')).toMatchObject({ code: 0, text: expect.stringContaining(owed) });
  },
);

testHere(
  'a restore whose pg_restore fails leaves nothing, and a database without books is not called restored',
  async (postgres) => {
    const url = await postgres.emptyDatabase();
    const { hold, ended } = await heldRestore(url);
    await postgres.query(
      url,
      `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'pg_restore'`,
    );
    expect(await ended).toMatchObject({ code: 1, text: expect.stringMatching(/pg_restore failed: /) });
    await hold.letGo();
    await expect(tollhouse(url, 'restored')).rejects.toMatchObject({
      code: 'backup_failed',
      message: expect.stringContaining('holds no books'),
    });
    expect(await tollhouse(url, 'restore', backup)).toMatchObject({ code: 0 });
  },
);

testHere('a restore that comes upon the books of another one does not take them for its own', async (postgres) => {
  const url = await postgres.emptyDatabase();
  const first = await heldRestore(url);
  first.child.kill('SIGKILL');
  await first.ended;
  const second = start(url, 'restore', backup);
  await first.hold.waits('pg_restore', 2);
  await first.hold.letGo();
  expect(await second.ended).toEqual({
    code: 1,
    text: expect.stringMatching(/has not ended well .* of it or of another restore, nobody can open them before/),
  });
  await expect(openStorage(url)).rejects.toMatchObject(UNSETTLED);
});

const CODES = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;
const said = (name: string, undone: string) => `tollhouse: stopped by ${name}; ${undone}\n`;

for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  testHere(`a restore that ${name} stops ends its pg_restore, leaves nothing and says so`, async (postgres) => {
    const url = await postgres.emptyDatabase();
    const { hold, child, ended, aside } = await heldRestore(url);
    child.kill(name);
    expect(await ended).toEqual({ code: CODES[name], text: said(name, 'nothing was restored') });
    await hold.isGone('pg_restore');
    await hold.letGo();
    expect(readdirSync(aside)).toEqual([]);
    expect(await tollhouse(url, 'restore', backup)).toMatchObject({ code: 0 });
  });
}

testHere('a backup that is stopped, however often, ends its pg_dump and leaves no part of it', async (postgres) => {
  const url = await postgres.emptyDatabase();
  await tollhouse(url, 'migrate');
  const hold = await holdPostgres(url, 'lock table tollhouse_payment in access exclusive mode');
  const out = folder.newPath('folder');
  mkdirSync(out);
  const { child, ended } = start(url, 'backup', join(out, 'books.dump'));
  await hold.waits('pg_dump');
  expect(readdirSync(out)).toEqual([expect.stringMatching(/\.part$/)]);
  for (const signal of ['SIGINT', 'SIGINT', 'SIGTERM'] as const) child.kill(signal);
  expect(await ended).toEqual({ code: expect.any(Number), text: expect.stringMatching(/nothing was backed up\n$/) });
  await hold.isGone('pg_dump');
  await hold.letGo();
  expect(readdirSync(out)).toEqual([]);
});

testHere(
  'a restore of SQLite into Postgres that is stopped while it waits leaves nothing in either place',
  async (postgres) => {
    const [from, url] = [`sqlite:${folder.newPath('db')}`, await postgres.emptyDatabase()];
    await tollhouse(from, 'migrate');
    const file = folder.newPath('backup');
    await tollhouse(from, 'backup', file);
    // The lock of whoever changes the schema.
    const hold = await holdPostgres(url, 'select pg_advisory_xact_lock(3853314791062309107)');
    const { child, ended, aside } = start(url, 'restore', file);
    await hold.waits('tollhouse');
    expect(readdirSync(aside)).toHaveLength(1);
    child.kill('SIGTERM');
    expect(await ended).toEqual({ code: CODES.SIGTERM, text: said('SIGTERM', 'nothing was restored') });
    await hold.letGo();
    expect(readdirSync(aside)).toEqual([]);
    expect(await tollhouse(url, 'restore', file)).toMatchObject({ code: 0 });
  },
);

test('a backup of SQLite that is stopped while SQLite holds the process leaves no part of it', async () => {
  const url = `sqlite:${folder.newPath('db')}`;
  await tollhouse(url, 'migrate');
  const holder = await openSqliteFile(url);
  // Whoever reads waits, which in WAL mode nobody does.
  holder.exec('pragma journal_mode = delete; begin exclusive');
  const out = folder.newPath('folder');
  mkdirSync(out);
  const { child, ended } = start(url, 'backup', join(out, 'books.db'));
  await until(() => readdirSync(out).length > 0);
  child.kill('SIGTERM');
  holder.exec('commit');
  holder.close();
  expect(await ended).toEqual({ code: CODES.SIGTERM, text: said('SIGTERM', 'nothing was backed up') });
  expect(readdirSync(out)).toEqual([]);
});
