import { LEDGER } from '../../src/storage/ledger/ledger-statements.js';
import { createSqlLedger } from '../../src/storage/ledger/sql-ledger.js';
import { openSqlite } from '../../src/storage/sql/sqlite/sqlite-database.js';
import { testFolder } from '../helpers/processes/test-folder.js';
import { testClock } from '../helpers/test-clock.js';
import { ledgerContract } from './ledger.js';
import { newClaim, rivalOf } from './ledger-samples.js';

const folder = testFolder();

/** Opened anew for each test; the tables are made by the first. */
const path = folder.newPath('db');

ledgerContract(
  'the ledger on SQLite',
  async () => {
    const { now, advance } = testClock();
    const database = await openSqlite(path);
    return { ledger: { ...createSqlLedger(database, now), close: () => database.close() }, now, advance };
  },
  100,
);

test('a payment that is given back while somebody asks for it is not taken for one that nobody has used before', async () => {
  const database = await openSqlite(folder.newPath('db'));
  const ledger = createSqlLedger(database);
  const claim = newClaim({ fingerprint: 'request', retryHash: 'secret' });
  await ledger.claim(claim);
  const late = createSqlLedger({
    ...database,
    async query(...step) {
      if (step[0] === LEDGER.bind) await ledger.keep(claim.id, claim.lease);
      return database.query(...step);
    },
  });

  expect((await late.claim(rivalOf(claim))).status).toBe('busy');
  expect(await ledger.claim(rivalOf(claim))).toMatchObject({ status: 'won', isFirstUse: false });
  await database.close();
});
