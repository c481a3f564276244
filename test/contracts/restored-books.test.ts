import { statSync } from 'node:fs';
import { openStorage } from '../../src/storage/open-storage.js';
import { settleRestored } from '../../src/storage/sql/backup/after-restore.js';
import { backUpDatabase } from '../../src/storage/sql/backup/backup.js';
import { NOTE_MOMENT, readLostPeriod } from '../../src/storage/sql/backup/moments.js';
import { testFolder } from '../helpers/processes/test-folder.js';
import { emptyDatabases } from '../helpers/storage/empty-databases.js';

const folder = testFolder();

test('a SQLite file and its backup are for their owner alone', async () => {
  const [from, to] = [folder.newPath('db'), folder.newPath('dump')];
  const storage = await openStorage(`sqlite:${from}`);
  await backUpDatabase(`sqlite:${from}`, to);
  const modes = [from, `${from}-wal`, to].map((it) => (statSync(it).mode & 0o777).toString(8));
  await storage.close();
  expect(modes).toEqual(['600', '600', '600']);
});

test.each(emptyDatabases())(
  'books that are restored again stay without what they lost before, on $dialect',
  async ({ newUrl }) => {
    const storage = await openStorage(await newUrl());
    const { database } = storage;
    try {
      await database.query(NOTE_MOMENT, 'backed_up', 5_000);
      expect(await settleRestored(database, 10_000)).toMatchObject({ from: 5_000, to: 10_000 });
      expect(await settleRestored(database, 11_000)).toMatchObject({ from: 5_000, to: 11_000 });
      await database.query(NOTE_MOMENT, 'backed_up', 20_000);
      await settleRestored(database, 30_000);
      expect(await readLostPeriod(database)).toEqual({ from: 5_000, to: 30_000 });
    } finally {
      await storage.close();
    }
  },
);
