import { openStorage } from '../../src/storage/open-storage.js';
import { operator } from '../../src/storage/sql/migrations/0016-operator.js';
import { openPostgres } from '../../src/storage/sql/postgres-database.js';
import { openSqlite } from '../../src/storage/sql/sqlite/sqlite-database.js';
import { testFolder } from '../helpers/processes/test-folder.js';
import { type PostgresServer, startPostgres } from '../helpers/storage/postgres.js';
import { connectTo } from '../helpers/storage/schema-connection.js';
import { ownersContract } from './owners.js';
import { BORIS, newProject } from './project-samples.js';

const folder = testFolder();
let server: PostgresServer;

beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server.stop());

ownersContract('SQLite', () => openSqlite(':memory:'));
ownersContract('Postgres', async () => openPostgres(await server.newDatabase()));

test.each([
  ['sqlite', async () => `sqlite:${folder.newPath('db')}`],
  ['postgres', () => server.newDatabase()],
] as const)('whoever owned something before there were owners is one, on %s', async (dialect, newUrl) => {
  const url = await newUrl();
  const storage = await openStorage(url);
  const { projects, owners } = storage.gateway;
  for (const createdAt of [7, 5]) await projects.create(newProject({ owner: BORIS, createdAt }), undefined, []);
  const db = await connectTo(url);
  await db.run('delete from tollhouse_owner');
  for (const statement of operator(dialect).filter((it) => it.startsWith('insert'))) await db.run(statement);
  await db.close();
  expect(await owners.list(9)).toEqual([{ wallet: BORIS, since: 5, projects: 2, keys: 0, webhooks: 0, quotas: {} }]);
  await storage.close();
});
