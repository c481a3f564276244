import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSqlLedger } from '../../src/storage/sql-ledger.js';
import { openSqlite } from '../../src/storage/sqlite-database.js';
import { ledgerContract } from './ledger.js';

const START = 1_700_000_000_000;
let folder: string;
let files = 0;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tollhouse-ledger-'));
});
afterAll(() => rm(folder, { recursive: true }));

async function open() {
  let time = START;
  files += 1;
  const database = await openSqlite(join(folder, `${files}.db`));
  const ledger = createSqlLedger(database, () => time);
  const advance = async (milliseconds: number) => {
    time += milliseconds;
  };
  return { ledger: { ...ledger, close: () => database.close() }, advance };
}

ledgerContract('the ledger on SQLite', open);
