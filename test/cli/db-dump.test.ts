import { readFileSync, writeFileSync } from 'node:fs';
import { db } from '../../src/cli/books/db.js';
import { runCommand } from '../helpers/processes/run-command.js';
import { testFolder } from '../helpers/processes/test-folder.js';
import { type InstalledPostgres, startInstalledPostgres } from '../helpers/storage/installed-postgres.js';
import { type PostgresServer, startPostgres } from '../helpers/storage/postgres.js';

const folder = testFolder();
const tollhouse = (url: string, ...args: readonly string[]) => runCommand(db, { DATABASE_URL: url }, args);
let installed: InstalledPostgres | undefined;
let server: PostgresServer;
const [sqlite, dump] = [folder.newPath('backup'), folder.newPath('dump')];

beforeAll(async () => {
  [installed, server] = await Promise.all([startInstalledPostgres(), startPostgres()]);
  const books = [
    [`sqlite:${folder.newPath('db')}`, sqlite],
    [await installed?.emptyDatabase(), dump],
  ] as const;
  for (const [url, backup] of books) {
    if (url === undefined) continue;
    await tollhouse(url, 'migrate');
    await tollhouse(url, 'backup', backup);
  }
});
afterAll(async () => {
  await installed?.stop();
  await server.stop();
});

const testHere = (name: string, run: () => Promise<void>) =>
  test(name, async () => {
    if (installed === undefined) console.warn('SKIPPED, no PostgreSQL server is installed beside pg_dump');
    else await run();
  });

/** A database with a setting under which nothing can be written. */
async function readOnly(): Promise<string> {
  const url = await server.emptyDatabase();
  await server.query(url, `alter database ${new URL(url).pathname.slice(1)} set default_transaction_read_only = on`);
  return url;
}

const takesNoWrites = {
  code: 'store_unavailable',
  message: expect.stringMatching(/it takes no writes: it is a standby, or set to be read only .*; name the one that/),
};

testHere('a dump that is cut off or damaged is named, with what to do', async () => {
  const whole = readFileSync(dump);
  const broken = folder.newPath('broken');
  const restore = async () => tollhouse(await server.emptyDatabase(), 'restore', broken);
  for (const length of [100, Math.floor(whole.length / 2), whole.length - 1]) {
    writeFileSync(broken, whole.subarray(0, length));
    await expect(restore()).rejects.toMatchObject({
      code: 'backup_failed',
      message: expect.stringContaining(`${broken} is cut off; copy it again, or take an earlier backup`),
    });
  }
  const at = whole.lastIndexOf(Buffer.from([0x78, 0x9c]));
  writeFileSync(broken, Buffer.from(whole).fill(0x55, at + 2, at + 12));
  await expect(restore()).rejects.toMatchObject({
    code: 'backup_failed',
    message: expect.stringContaining(`${broken} is damaged; take an earlier backup`),
  });
});

testHere('a dump is not restored into a Postgres that takes no writes, which is told as that', async () => {
  await expect(tollhouse(await readOnly(), 'restore', dump)).rejects.toMatchObject(takesNoWrites);
});

test.each([
  ['restored into', 'restore', sqlite],
  ['brought up to date in', 'migrate'],
])('nothing is %s a Postgres that takes no writes, which is told as that', async (_what, ...args) => {
  await expect(tollhouse(await readOnly(), ...args)).rejects.toMatchObject(takesNoWrites);
});
