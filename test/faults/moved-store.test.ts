import { execFile } from 'node:child_process';
import { rename } from 'node:fs/promises';
import { promisify } from 'node:util';
import { requirePayment } from '../../src/middleware/payment/require-payment.js';
import { openStorage } from '../../src/storage/open-storage.js';
import { backUpDatabase } from '../../src/storage/sql/backup/backup.js';
import type { Storage } from '../../src/storage/storage.js';
import { openTollFixture, type TollFixture } from '../helpers/fixtures/toll-fixture.js';
import { testFolder } from '../helpers/processes/test-folder.js';
import { until } from '../helpers/until.js';

/** Of another process: one that closes the file in this one would take SQLite's locks on it away. */
const copy = (from: string, to: string) => promisify(execFile)('cp', [from, to]);

const folder = testFolder();
let fixture: TollFixture;

beforeAll(async () => {
  fixture = await openTollFixture();
});
afterAll(() => fixture.close());

describe.each([
  ['the database itself', ''],
  ['the log beside it', '-wal'],
  ['the memory beside it', '-shm'],
])('a gate whose health nobody asks for, with %s moved away', (_what, part) => {
  let storage: Storage;
  let path: string;
  let warn: jest.SpyInstance;

  beforeAll(async () => {
    path = folder.newPath('db');
    storage = await openStorage(`sqlite:${path}`);
    warn = jest.spyOn(process, 'emitWarning').mockImplementation(() => undefined);
  });
  afterAll(async () => {
    warn.mockRestore();
    await storage.close();
  });

  test('offers nothing, says so once, and sells again when the file is back', async () => {
    const facilitator = fixture.facilitatorWith({ storage });
    const url = await fixture.serve((app) => {
      app.get('/report', requirePayment({ facilitator, payTo: fixture.payTo, price: '$0.01' }));
    });
    const status = async () => (await fetch(`${url}/report`)).status;
    expect(await status()).toBe(402);
    expect(storage.misplaced()).toBeUndefined();

    await rename(path + part, `${path}.aside`);
    await until(async () => (await status()) === 503);
    expect(storage.misplaced()).toBe(path + part);

    await rename(`${path}.aside`, path + part);
    await until(async () => (await status()) === 402);
    const told = warn.mock.calls.filter(([, options]) => options?.code === 'TOLLHOUSE_STORE_MOVED');
    expect(told).toHaveLength(1);
  });
});

/** Changes a database as another instance would, and has all of it written into the file, by whichever process. */
const CHURN = `
  const [, path, rounds] = process.argv;
  const database = new (require('better-sqlite3'))(path, { timeout: 20_000 });
  database.exec('create table if not exists other (text)');
  for (let round = 0; round < Number(rounds); round += 1) {
    database.prepare('insert into other values (?)').run('x'.repeat(20_000));
    database.pragma('wal_checkpoint(' + (round % 2 ? 'truncate' : 'passive') + ')');
    if (round % 10 === 5) database.exec('delete from other; vacuum');
  }
  database.close();`;
const churn = (path: string, rounds: number) =>
  promisify(execFile)(process.execPath, ['-e', CHURN, path, String(rounds)]);

describe('a database that is open', () => {
  let storage: Storage;
  let path: string;
  let warn: jest.SpyInstance;

  beforeEach(async () => {
    path = folder.newPath('db');
    storage = await openStorage(`sqlite:${path}`);
    warn = jest.spyOn(process, 'emitWarning').mockImplementation(() => undefined);
  });
  afterEach(async () => {
    warn.mockRestore();
    await storage.close();
  });

  const warnings = () => warn.mock.calls.filter(([, options]) => options?.code === 'TOLLHOUSE_STORE_MOVED');
  const isMoved = async () => (await storage.probe()).moved === true;

  test('takes no payment once a backup was copied over it, and says how it is restored', async () => {
    const backup = folder.newPath('backup');
    await backUpDatabase(`sqlite:${path}`, backup);
    expect(await isMoved()).toBe(false);
    await copy(backup, path);
    expect(await isMoved()).toBe(true);
    expect(storage.misplaced()).toBe(path);
    expect(warnings()).toEqual([[expect.stringContaining('tollhouse db restore'), expect.anything()]]);
  });

  test('takes none either once an older copy of it was, whatever is written into it after that', async () => {
    const older = folder.newPath('older');
    await copy(path, older);
    await churn(path, 5);
    expect(await isMoved()).toBe(false);
    await copy(older, path);
    expect(await isMoved()).toBe(true);
    await copy(path, older);
    expect(await isMoved()).toBe(true);
    expect(warnings()).toHaveLength(1);
  });

  test('is taken for its own while several processes write to it, and shrink it', async () => {
    const other = await openStorage(`sqlite:${path}`);
    let isOver = false;
    const churning = Promise.all([churn(path, 60), churn(path, 60)]).finally(() => {
      isOver = true;
    });
    const seen = new Set<unknown>();
    while (!isOver) for (const it of [storage, other]) seen.add((await it.probe()).moved);
    await churning;
    expect([...seen]).toEqual([undefined]);
    await other.close();
    expect([await isMoved(), warnings()]).toEqual([false, []]);
  });

  test('stays locked against others when another of this process on the same file is closed', async () => {
    await (await openStorage(`sqlite:${path}`)).close();
    const leaving = "new (require('better-sqlite3'))(process.argv[1], { timeout: 0 }).pragma('journal_mode = delete')";
    await expect(promisify(execFile)(process.execPath, ['-e', leaving, path])).rejects.toThrow(/locked/);
  });
});

test('a look at the files that is under way when the storage is closed takes nothing for moved', async () => {
  const warn = jest.spyOn(process, 'emitWarning').mockImplementation(() => undefined);
  for (let times = 0; times < 5; times += 1) {
    const storage = await openStorage(`sqlite:${folder.newPath('db')}`);
    await storage.probe();
    const looking = storage.probe();
    await storage.close();
    await looking;
  }
  expect(warn.mock.calls).toEqual([]);
  warn.mockRestore();
});
