import { newEvent } from '../../src/storage/events/events.js';
import { createSqlLedger } from '../../src/storage/ledger/sql-ledger.js';
import { openPostgres } from '../../src/storage/sql/postgres-database.js';
import type { SqlDatabase, Statement } from '../../src/storage/sql/sql-database.js';
import { openSqlite } from '../../src/storage/sql/sqlite/sqlite-database.js';
import { type PostgresServer, startPostgres } from '../helpers/storage/postgres.js';
import { newClaim, rivalOf } from './ledger-samples.js';

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

  test('money that had landed is written with its event, for the one who wins it', async () => {
    const ledger = createSqlLedger(database);
    const claim = newClaim();
    const [event, late] = [settled(claim.id), settled(claim.id)];
    const landed = { slot: 7, signature: OUTCOME.signature };
    const won = [
      await ledger.claimLanded(claim, { ...landed, events: [event] }),
      await ledger.claimLanded(rivalOf(claim), { ...landed, events: [late] }),
    ];

    expect(won.map((record) => record?.state)).toEqual(['confirmed', undefined]);
    expect(await database.query(EVENTS)).toEqual([
      { id: event.id, type: 'payment.settled', owner: 'seller', data: JSON.stringify({ payment_id: claim.id }) },
    ]);
  });

  test('an event that cannot be written lets nobody win, but those who came at the same time', async () => {
    const ledger = createSqlLedger(database);
    const claims = [newClaim(), newClaim(), newClaim()];
    const event = settled('twice');
    const eventsOf = (at: number) => (at === 1 ? [event, event] : [settled(`payment ${at}`)]);
    const results = await Promise.allSettled(
      claims.map((claim, at) => ledger.claimLanded(claim, { slot: 7, signature: 's', events: eventsOf(at) })),
    );

    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    const found = await Promise.all(claims.map(({ id }) => ledger.find(id)));
    expect(found.map((record) => record?.state)).toEqual(['confirmed', undefined, 'confirmed']);
    expect(await database.query(EVENTS)).toHaveLength(2);
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
