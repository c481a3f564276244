import { openSqlite } from '../../src/storage/sql/sqlite/sqlite-database.js';
import { testFolder } from '../helpers/processes/test-folder.js';
import { testClock } from '../helpers/test-clock.js';
import { payoutBookContract } from './payout-book.js';

const folder = testFolder();

payoutBookContract('the payout book on SQLite', async () => {
  return { ...testClock(), database: await openSqlite(folder.newPath('db')) };
});
