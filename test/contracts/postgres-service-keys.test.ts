import { createSqlServiceKeys } from '../../src/storage/keys/sql-service-keys.js';
import { openPostgres } from '../../src/storage/sql/postgres-database.js';
import { type PostgresServer, startPostgres } from '../helpers/storage/postgres.js';
import { serviceKeysContract } from './service-keys.js';

let server: PostgresServer;
let url: string;

beforeAll(async () => {
  server = await startPostgres();
  url = await server.newDatabase();
});
afterAll(() => server.stop());

serviceKeysContract('the service keys on Postgres', async () => {
  const database = await openPostgres(url);
  return { keys: createSqlServiceKeys(database), database };
});
