import { createSqlLedger } from '../../src/storage/ledger/sql-ledger.js';
import { openPostgres } from '../../src/storage/sql/postgres-database.js';
import { type PostgresServer, startPostgres } from '../helpers/storage/postgres.js';
import { testClock } from '../helpers/test-clock.js';
import { ledgerContract } from './ledger.js';

let server: PostgresServer;
let url: string;

beforeAll(async () => {
  server = await startPostgres();
  url = await server.newDatabase();
});
afterAll(() => server.stop());

ledgerContract(
  'the ledger on Postgres',
  async () => {
    const { now, advance } = testClock();
    const database = await openPostgres(url);
    return { ledger: { ...createSqlLedger(database, now), close: () => database.close() }, now, advance };
  },
  25,
);
