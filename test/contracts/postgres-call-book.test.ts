import { openPostgres } from '../../src/storage/sql/postgres-database.js';
import type { SqlDatabase } from '../../src/storage/sql/sql-database.js';
import { type PostgresServer, startPostgres } from '../helpers/storage/postgres.js';
import { callBookContract } from './call-book.js';
import { budgetsContract } from './call-book-budgets.js';
import { booksOn } from './call-book-stand.js';
import { callRunsContract } from './call-runs.js';
import { creditContract } from './credit.js';

const NAME = 'the book of calls on Postgres';
const TABLES =
  'tollhouse_call, tollhouse_rollup, tollhouse_spend, tollhouse_reservation, tollhouse_credit, tollhouse_credit_hold, tollhouse_event, tollhouse_mark, ' +
  'tollhouse_payment, tollhouse_payment_request';
let server: PostgresServer;
let url: string;
let databases: readonly [SqlDatabase, SqlDatabase];

beforeAll(async () => {
  server = await startPostgres();
  url = await server.newDatabase();
  databases = [await openPostgres(url), await openPostgres(url)];
});
afterAll(async () => {
  await Promise.all(databases.map((it) => it.close()));
  await server.stop();
});

async function open() {
  await server.query(url, `truncate ${TABLES}`);
  return booksOn(databases);
}

callBookContract(NAME, open);
budgetsContract(NAME, open);
creditContract(NAME, open);
callRunsContract(NAME, open);
