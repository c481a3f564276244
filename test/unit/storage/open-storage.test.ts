import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { openStorage } from '../../../src/storage/open-storage.js';
import { driverFault } from '../../../src/storage/sql/sqlite/better-sqlite3.js';

import { newClaim } from '../../contracts/ledger-samples.js';
import { testFolder } from '../../helpers/processes/test-folder.js';

const folder = testFolder();

/** What an attempt to open something says; fails when it opens. */
async function errorOf(url: string, options = {}): Promise<{ code: string; message: string }> {
  const outcome = await openStorage(url, options).then(
    () => undefined,
    (error: unknown) => error,
  );
  if (!(outcome instanceof Error)) throw new Error(`${url} was opened`);
  return { code: String(Reflect.get(outcome, 'code')), message: outcome.message };
}

test.each([
  '',
  'sqlite',
  'sqlite:',
  'mysql://root@db/x',
  'postgres:',
  'memory',
  './data/tollhouse.db',
  'postgres://a b/c',
])('a URL that is none of the three forms is refused with the forms: %j', async (url) => {
  const { code, message } = await errorOf(url);
  expect(code).toBe('bad_option');
  expect(message).toContain('sqlite:<path of a file>, postgres://user:password@host:port/database or memory:');
});

test.each(['http://cache', 'redis', 'redis:cache'])('a Redis URL that is none is refused: %j', async (redisUrl) => {
  expect(await errorOf('memory:', { redisUrl })).toMatchObject({ code: 'bad_option' });
});

test('a SQLite file that cannot be made or read is one clear line with its path', async () => {
  const occupied = join(folder.path, 'file');
  writeFileSync(occupied, 'not a database, and long enough to be taken for a broken header of one'.repeat(20));

  for (const path of [
    join(occupied, 'tollhouse.db'),
    '/sys/tollhouse/tollhouse.db',
    '/proc/tollhouse/books/tollhouse.db',
    folder.path,
    occupied,
  ]) {
    const { code, message } = await errorOf(`sqlite:${path}`);
    expect(code).toBe('bad_option');
    expect(message).toMatch(/^openStorage: cannot open the SQLite file .+\(.+\); .+$/);
    expect(message).toContain(path);
  }
});

test('a file that is no database is told as that, and not as one that cannot be written to', async () => {
  const path = join(folder.path, 'letter.txt');
  writeFileSync(path, 'not a database, and long enough to be taken for a broken header of one'.repeat(20));
  const { code, message } = await errorOf(`sqlite:${path}`);
  expect([code, message]).toEqual(['bad_option', expect.stringContaining('file is not a database); name a database')]);
  expect(message).not.toContain('may write to');
});

test('a server that is not there is one clear line with its address and without the password', async () => {
  const listener = createServer().listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const port = Reflect.get(Object(listener.address()), 'port');
  listener.close();
  await once(listener, 'close');

  const postgres = await errorOf(`postgres://me:hush-hush@127.0.0.1:${port}/books`);
  const redis = await errorOf('memory:', { redisUrl: `redis://me:hush-hush@127.0.0.1:${port}` });
  for (const { code, message } of [postgres, redis]) {
    expect(code).toBe('store_unavailable');
    expect(message).toContain(`127.0.0.1:${port}`);
    expect(message).not.toMatch(/hush-hush|\n/);
  }
});

test.each([
  ['12.11.1', 9, undefined],
  ['12.11.1', 10, undefined],
  ['13.2.0', 10, undefined],
  ['13.2.0', 9, 'better-sqlite3@^12.11.1'],
])('better-sqlite3 %s on the Node-API %s: install %s', (driver, nodeApi, instead) => {
  const fault = driverFault(driver, nodeApi);
  if (instead === undefined) expect(fault).toBeUndefined();
  else expect(fault).toContain(`npm install ${instead}`);
});

test('a SQLite file is made with its folder, and what was answered is in it for the next process', async () => {
  const path = join(folder.path, 'deep', 'er', 'tollhouse.db');
  const claim = newClaim();
  const first = await openStorage(`sqlite:${path}`);
  await first.ledger.claim(claim);
  await first.close();

  expect(readFileSync(path).subarray(0, 15).toString()).toBe('SQLite format 3');
  const second = await openStorage(`sqlite:${path}`);
  expect((await second.ledger.claim({ ...claim, lease: 'another' })).status).toBe('busy');
  await second.close();
});

test('amounts are plain 64-bit integers in the file; the largest come back exactly', async () => {
  const storage = await openStorage(`sqlite:${folder.newPath('db')}`);
  const { terms } = newClaim();
  for (const amount of [0n, 1n, 2n ** 53n + 1n, 2n ** 63n - 1n, 2n ** 63n, 2n ** 64n - 1n]) {
    const claim = newClaim({ terms: { ...terms, amount } });
    await storage.ledger.claim(claim);
    expect((await storage.ledger.find(claim.id))?.terms.amount).toBe(amount);
  }
  await storage.close();
});

test('a database that is closed answers with store_unavailable, and can be closed again', async () => {
  const storage = await openStorage(`sqlite:${folder.newPath('db')}`);
  await storage.close();
  await expect(storage.ledger.claim(newClaim())).rejects.toMatchObject({ code: 'store_unavailable' });
  await storage.close();
});

test('memory: keeps everything in this process', async () => {
  const storage = await openStorage('memory:');
  const claim = newClaim();
  expect((await storage.ledger.claim(claim)).status).toBe('won');
  expect(await storage.counters.takeOnce('nonce:1', 1_000)).toBe(true);
  expect(await storage.prune(Date.now(), 10)).toBe(0);
  await storage.close();
});
