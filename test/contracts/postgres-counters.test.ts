import { createSqlCounters } from '../../src/storage/counters/sql-counters.js';
import { openPostgres } from '../../src/storage/sql/postgres-database.js';
import { type PostgresServer, startPostgres } from '../helpers/storage/postgres.js';
import { testClock } from '../helpers/test-clock.js';
import { countersContract } from './counters.js';

let server: PostgresServer;
let url: string;

beforeAll(async () => {
  server = await startPostgres();
  url = await server.newDatabase();
});
afterAll(() => server.stop());

countersContract('Postgres', async () => {
  const { now, advance } = testClock();
  const database = await openPostgres(url);
  await server.query(url, 'truncate tollhouse_mark, tollhouse_value, tollhouse_count');
  return { counters: { ...createSqlCounters(database, now), close: () => database.close() }, advance };
});
