import { openPostgres } from '../../src/storage/sql/postgres-database.js';
import { type PostgresServer, startPostgres } from '../helpers/storage/postgres.js';
import { testClock } from '../helpers/test-clock.js';
import { payoutBookContract } from './payout-book.js';

let server: PostgresServer;

beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server.stop());

payoutBookContract('the payout book on Postgres', async () => {
  return { ...testClock(), database: await openPostgres(await server.newDatabase()) };
});
