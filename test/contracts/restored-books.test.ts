import { openStorage } from '../../src/storage/open-storage.js';
import { settleRestored } from '../../src/storage/sql/backup/after-restore.js';
import { NOTE_MOMENT, readLostPeriod } from '../../src/storage/sql/backup/moments.js';
import { emptyDatabases } from '../helpers/storage/empty-databases.js';

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
