import { openPostgres } from '../../src/storage/sql/postgres-database.js';
import { type PostgresServer, startPostgres } from '../helpers/storage/postgres.js';
import { projectsContract } from './projects.js';

let server: PostgresServer;
let url: string;

beforeAll(async () => {
  server = await startPostgres();
  url = await server.newDatabase();
});
afterAll(() => server.stop());

projectsContract('Postgres', async () => {
  const database = await openPostgres(url);
  await server.query(url, 'truncate tollhouse_project, tollhouse_event, tollhouse_rollup');
  return database;
});
