import { createMemoryHeldTimes } from '../../src/storage/held/memory-held-times.js';
import { createSqlHeldTimes } from '../../src/storage/held/sql-held-times.js';
import { openPostgres } from '../../src/storage/sql/postgres-database.js';
import type { SqlDatabase } from '../../src/storage/sql/sql-database.js';
import { openSqlite } from '../../src/storage/sql/sqlite/sqlite-database.js';
import { testFolder } from '../helpers/processes/test-folder.js';
import { type PostgresServer, startPostgres } from '../helpers/storage/postgres.js';
import { heldTimesContract } from './held-times.js';

const ROOM = 3;
const folder = testFolder();
const opened: SqlDatabase[] = [];
let server: PostgresServer;

beforeAll(async () => {
  server = await startPostgres();
});
afterEach(async () => {
  for (const database of opened.splice(0)) await database.close();
});
afterAll(() => server.stop());

function on(database: SqlDatabase) {
  opened.push(database);
  return createSqlHeldTimes(database, ROOM);
}

heldTimesContract('memory', async () => createMemoryHeldTimes(ROOM));
heldTimesContract('SQLite', async () => on(await openSqlite(folder.newPath('db'))));
heldTimesContract('Postgres', async () => on(await openPostgres(await server.newDatabase())));
