import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { db } from '../../src/cli/books/db.js';
import { openStorage } from '../../src/storage/open-storage.js';
import { newClaim } from '../contracts/ledger-samples.js';
import { runCommand } from '../helpers/processes/run-command.js';
import { testFolder } from '../helpers/processes/test-folder.js';
import { startPostgres } from '../helpers/storage/postgres.js';
import { openSqliteFile } from '../helpers/storage/sqlite-file.js';

const folder = testFolder();
const tollhouse = (url: string, ...args: readonly string[]) => runCommand(db, { DATABASE_URL: url }, args);
const failed = (detail: RegExp | string) =>
  expect.objectContaining({
    code: 'backup_failed',
    message: typeof detail === 'string' ? expect.stringContaining(detail) : expect.stringMatching(detail),
  });

/** A SQLite file with payments in each state that is not over; a backup of it. */
async function backedUp() {
  const file = folder.newPath('db');
  const url = `sqlite:${file}`;
  const storage = await openStorage(url);
  const { ledger } = storage;
  const [claimed, sent, owed] = [newClaim(), newClaim(), newClaim()];
  for (const claim of [claimed, sent, owed]) await ledger.claim(claim);
  await ledger.recordBroadcast(sent.id, sent.lease, { signature: 'sent' });
  await ledger.recordBroadcast(owed.id, owed.lease, { signature: 'owed' });
  await ledger.recordOutcome(owed.id, owed.lease, { state: 'confirmed', slot: 7, signature: 'owed' });
  const backup = folder.newPath('backup');
  const made = await tollhouse(url, 'backup', backup);
  return { file, url, storage, backup, made, claimed, sent, owed };
}

test('a backup is made while the file is open, is whole, and only its owner can read it', async () => {
  const { storage, backup, made } = await backedUp();
  await storage.close();
  expect(made).toMatchObject({ code: 0, text: expect.stringMatching(/^backed up and checked in .*\ndatabase /) });
  expect(statSync(backup).mode & 0o777).toBe(0o600);
  expect(readdirSync(dirname(backup)).filter((it) => it.includes('.part'))).toEqual([]);
});

test('a backup replaces no file that is there, but by --force', async () => {
  const { url, storage, backup } = await backedUp();
  await storage.close();
  await expect(tollhouse(url, 'backup', backup)).rejects.toEqual(
    failed('is there already; name another file, or take --force'),
  );
  expect(await tollhouse(url, 'backup', backup, '--force')).toMatchObject({ code: 0 });
  const nowhere = `sqlite:${folder.newPath('db')}`;
  await expect(tollhouse(nowhere, 'backup', folder.newPath('backup'))).rejects.toEqual(failed('no such file'));
});

test('a backup that has no place says so before it is made, and names none that nobody has asked for', async () => {
  const { url, storage, backup } = await backedUp();
  await storage.close();
  const missing = folder.newPath('folder');
  await expect(tollhouse(url, 'backup', `${missing}/it`)).rejects.toEqual(
    failed(`there is no folder ${missing}; make it first`),
  );
  await expect(tollhouse(url, 'backup', `${backup}/it`)).rejects.toEqual(failed('is a file and no folder'));
  await expect(tollhouse(url, 'backup', dirname(backup), '--force')).rejects.toEqual(failed('name a file in it'));
});

test('what is restored ends what was open in the backup, and says so', async () => {
  const { storage, backup, claimed, sent, owed } = await backedUp();
  await storage.close();
  const url = `sqlite:${folder.newPath('db')}`;
  const { code, text } = await tollhouse(url, 'restore', backup, '--json');
  const restored = await openStorage(url);
  const states = await Promise.all(
    [claimed, sent, owed].map(async ({ id }) => (await restored.ledger.find(id))?.state),
  );
  const { remembersUntil = 0, remembersSince = 0 } = restored.ledger;
  await restored.close();

  expect(code).toBe(0);
  expect(JSON.parse(text.slice(text.indexOf('{')))).toMatchObject({
    ended: [owed.id],
    sent: 1,
    forgotten: 1,
    set_aside: null,
  });
  expect(states).toEqual([undefined, 'broadcast', 'served']);
  expect(remembersUntil).toBeGreaterThan(0);
  expect(remembersSince).toBeGreaterThanOrEqual(remembersUntil);
});

test('what is restored of one payment is told of one payment', async () => {
  const { storage, backup } = await backedUp();
  await storage.close();
  const { text } = await tollhouse(`sqlite:${folder.newPath('db')}`, 'restore', backup);
  expect(text).toMatch(
    /ended +1 payment had landed, [\s\S]*sent +1 payment had been [\s\S]*forgotten +1 payment had not/,
  );
});

test('a file that is there is replaced by --force only, while nobody has it open, and is set aside', async () => {
  const { file, url, storage, backup } = await backedUp();
  await expect(tollhouse(url, 'restore', backup)).rejects.toEqual(failed('is there already'));
  await expect(tollhouse(url, 'restore', backup, '--force')).rejects.toEqual(
    failed(/somebody has .* open; stop the server/),
  );
  await storage.close();
  const before = readFileSync(file);
  const { text } = await tollhouse(url, 'restore', backup, '--force');
  const [, aside = ''] = /^set aside +(\S+)$/m.exec(text) ?? [];
  expect([existsSync(aside), readFileSync(aside).length]).toEqual([true, before.length]);
});

test('what is damaged, newer, of another kind or somebody else’s is not restored', async () => {
  const { storage, backup } = await backedUp();
  await storage.close();
  const target = () => `sqlite:${folder.newPath('db')}`;
  const text = folder.newPath('txt');
  writeFileSync(text, 'no backup at all');
  await expect(tollhouse(target(), 'restore', text)).rejects.toEqual(failed('is no backup'));
  writeFileSync(text, 'PGDMP and more');
  await expect(tollhouse(target(), 'restore', text)).rejects.toEqual(
    failed('is a dump of Postgres (pg_dump --format=custom), which is restored into Postgres alone'),
  );
  await expect(tollhouse(target(), 'restore', dirname(backup))).rejects.toEqual(
    failed(`${dirname(backup)} is a folder; name the file of the backup in it`),
  );
  const other = folder.newPath('other');
  const connection = await openSqliteFile(`sqlite:${other}`);
  connection.exec('create table something (x)');
  connection.close();
  await expect(tollhouse(target(), 'restore', other)).rejects.toEqual(failed('holds no books of Tollhouse'));
  const damaged = folder.newPath('damaged');
  writeFileSync(damaged, readFileSync(backup).fill(0xff, 8_192, 65_536));
  await expect(tollhouse(target(), 'restore', damaged)).rejects.toEqual(failed(/damaged|cannot be restored/));
  const whole = readFileSync(backup);
  for (const length of [1_000, 8_192, whole.length / 2, whole.length - 4_096, whole.length - 1]) {
    const cut = folder.newPath('cut');
    writeFileSync(cut, whole.subarray(0, length));
    const url = target();
    await expect(tollhouse(url, 'restore', cut)).rejects.toEqual(
      failed(/is cut off: it has \d+ bytes of \d+; copy it again/),
    );
    expect(existsSync(url.slice('sqlite:'.length))).toBe(false);
  }
  const newer = await openSqliteFile(`sqlite:${backup}`);
  newer.exec(`insert into tollhouse_migration (name, timestamp) values ('9999-later', 'x')`);
  newer.close();
  await expect(tollhouse(target(), 'restore', backup)).rejects.toThrow('newer schema (9999-later)');
});

test('a database that was restored in another way is told so', async () => {
  const { url, storage } = await backedUp();
  await storage.close();
  const { text } = await tollhouse(url, 'restored');
  expect(text).toMatch(/complete +until .*counts as used/);
  const opened = await openStorage(url);
  const { remembersUntil } = opened.ledger;
  await opened.close();
  expect(remembersUntil).toBeGreaterThan(0);
});

const [, dumpVersion] = /(\d+)/.exec(spawnSync('pg_dump', ['--version'], { encoding: 'utf8' }).stdout ?? '') ?? [];

test('of Postgres, tools that are not there or older than the server are named, with what to install', async () => {
  const server = await startPostgres();
  try {
    const url = await server.emptyDatabase();
    await tollhouse(url, 'migrate');
    const backup = folder.newPath('dump');
    const without = runCommand(db, { DATABASE_URL: url, PATH: '/nowhere' }, ['backup', backup]);
    await expect(without).rejects.toEqual(failed('there is no pg_dump in PATH: install the client tools'));
    const [row] = await server.query(url, `select current_setting('server_version_num')::int / 10000 as version`);
    const isOlder = dumpVersion !== undefined && Number(dumpVersion) < Number(Reflect.get(row ?? {}, 'version'));
    const made = tollhouse(url, 'backup', backup);
    if (isOlder) await expect(made).rejects.toEqual(failed(/^pg_dump .* is older than the server/));
    else if (dumpVersion !== undefined) expect(await made).toMatchObject({ code: 0 });
    else await expect(made).rejects.toEqual(failed('there is no pg_dump'));
    expect(existsSync(backup)).toBe(dumpVersion !== undefined && !isOlder);
  } finally {
    await server.stop();
  }
});
