import { createSqlLedger } from '../../src/storage/sql-ledger.js';
import { openSqlite } from '../../src/storage/sqlite-database.js';
import { testClock } from '../helpers/test-clock.js';
import { testFolder } from '../helpers/test-folder.js';
import { ledgerContract } from './ledger.js';

const folder = testFolder();

ledgerContract('the ledger on SQLite', async () => {
  const { now, advance } = testClock();
  const database = await openSqlite(folder.newPath('db'));
  return { ledger: { ...createSqlLedger(database, now), close: () => database.close() }, advance };
});
