import { createSqlServiceKeys } from '../../src/storage/keys/sql-service-keys.js';
import { openSqlite } from '../../src/storage/sql/sqlite/sqlite-database.js';
import { testFolder } from '../helpers/processes/test-folder.js';
import { serviceKeysContract } from './service-keys.js';

const folder = testFolder();

serviceKeysContract('the service keys on SQLite', async () => {
  const database = await openSqlite(folder.newPath('db'));
  return { keys: createSqlServiceKeys(database), database };
});
