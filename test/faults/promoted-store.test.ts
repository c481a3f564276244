import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openStorage } from '../../src/storage/open-storage.js';
import { settleRestored } from '../../src/storage/sql/backup/after-restore.js';
import { openPostgres } from '../../src/storage/sql/postgres-database.js';
import { type OwnPostgres, ownPostgres } from '../helpers/storage/postgres.js';

describe('a Postgres server that was recovered, and writes another timeline since,', () => {
  let server: OwnPostgres;
  let url: string;
  let warn: jest.SpyInstance;

  beforeAll(async () => {
    server = await ownPostgres();
  });
  afterAll(() => server.stop());
  beforeEach(async () => {
    url = await server.emptyDatabase();
    warn = jest.spyOn(process, 'emitWarning').mockImplementation(() => undefined);
    await (await openStorage(url)).close();
  });
  afterEach(() => warn.mockRestore());

  const warnings = () => warn.mock.calls.filter(([, options]) => options?.code === 'TOLLHOUSE_STORE_PROMOTED').length;

  /** As a promotion does. */
  async function recover(): Promise<void> {
    const [row] = await server.query(url, 'show data_directory');
    await server.query(url, "alter system set restore_command = 'false'");
    await server.crash();
    await writeFile(join(String(Reflect.get(Object(row), 'data_directory')), 'recovery.signal'), '');
    await server.restart();
  }

  test('is told of once, by the one that opens the books next', async () => {
    await (await openStorage(url)).close();
    expect(warnings()).toBe(0);
    await recover();
    await (await openStorage(url)).close();
    await (await openStorage(url)).close();
    expect(warnings()).toBe(1);
  });

  test('is told of by the one that has them open, when it is asked how it is', async () => {
    const storage = await openStorage(url);
    await recover();
    expect(await storage.probe()).toMatchObject({ writable: true });
    await storage.probe();
    expect(warnings()).toBe(1);
    await storage.close();
  });

  test('is not told of where its operator has said that the books are restored', async () => {
    await recover();
    const database = await openPostgres(url);
    await settleRestored(database, Date.now());
    await database.close();
    await (await openStorage(url)).close();
    expect(warnings()).toBe(0);
  });
});
