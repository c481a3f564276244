import type { ChildProcess } from 'node:child_process';
import { db } from '../../src/cli/books/db.js';
import { openStorage } from '../../src/storage/open-storage.js';
import { newClaim } from '../contracts/ledger-samples.js';
import { openTcpRelay } from '../helpers/nodes/tcp-relay.js';
import { runCommand } from '../helpers/processes/run-command.js';
import { endOf, runFile, stopFiles } from '../helpers/processes/run-file.js';
import { testFolder } from '../helpers/processes/test-folder.js';
import { holdPostgres } from '../helpers/storage/held-postgres.js';
import { type InstalledPostgres, startInstalledPostgres } from '../helpers/storage/installed-postgres.js';

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

/** Starts a restore as a process; answers it when its `pg_restore` is held. */
async function heldRestore(url: string, way = url) {
  const hold = await holdPostgres(url, HOLD);
  const child: ChildProcess = runFile('src/cli/main.ts', ['db', 'restore', backup], { DATABASE_URL: way });
  const ended = endOf(child);
  await hold.waits('pg_restore');
  return { hold, child, ended };
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
      expect.stringMatching(/the books are in the database, and what they have lost is not marked .* db restored"/),
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
