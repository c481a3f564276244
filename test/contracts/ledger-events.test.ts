import { newEvent } from '../../src/storage/events.js';
import { openPostgres } from '../../src/storage/postgres-database.js';
import type { SqlDatabase, Statement } from '../../src/storage/sql-database.js';
import { createSqlLedger } from '../../src/storage/sql-ledger.js';
import { openSqlite } from '../../src/storage/sqlite-database.js';
import { type PostgresServer, startPostgres } from '../helpers/postgres.js';
import { newClaim } from './ledger-samples.js';

const EVENTS: Statement = {
  name: 'test_events',
  text: 'select id, type, owner, data from tollhouse_event order by seq',
};
const OUTCOME = { state: 'confirmed', slot: 7, signature: '5'.repeat(88) } as const;

let server: PostgresServer;

beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server.stop());

describe.each([
  ['SQLite', () => openSqlite(':memory:')],
  ['Postgres', async () => openPostgres(await server.newDatabase())],
] as const)('on %s the ledger and its events are one', (_name, open) => {
  let database: SqlDatabase;

  beforeEach(async () => {
    database = await open();
  });
  afterEach(() => database.close());

  const settled = (id: string) => newEvent({ type: 'payment.settled', owner: 'seller', data: { payment_id: id } }, 5);

  test('an outcome is written with its event', async () => {
    const ledger = createSqlLedger(database);
    const claim = newClaim();
    await ledger.claim(claim);
    const event = settled(claim.id);

    expect(await ledger.recordOutcome(claim.id, claim.lease, OUTCOME, [event])).toBe(true);
    expect(await database.query(EVENTS)).toEqual([
      { id: event.id, type: 'payment.settled', owner: 'seller', data: JSON.stringify({ payment_id: claim.id }) },
    ]);
  });

  test('whoever lost the payment tells nothing of it', async () => {
    const ledger = createSqlLedger(database);
    const claim = newClaim();
    await ledger.claim(claim);

    expect(await ledger.recordOutcome(claim.id, 'somebody else', OUTCOME, [settled(claim.id)])).toBe(false);
    expect(await database.query(EVENTS)).toEqual([]);
  });

  test('an event that cannot be written leaves the payment as it was', async () => {
    const ledger = createSqlLedger(database);
    const claim = newClaim();
    await ledger.claim(claim);
    const event = settled(claim.id);

    const twice = ledger.recordOutcome(claim.id, claim.lease, OUTCOME, [event, event]);
    await expect(twice).rejects.toMatchObject({ code: 'store_unavailable' });
    expect((await ledger.find(claim.id))?.state).toBe('claimed');
    expect(await database.query(EVENTS)).toEqual([]);
  });
});
