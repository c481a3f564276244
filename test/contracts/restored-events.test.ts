import { createEventTail } from '../../src/gateway/webhooks/event-tail.js';
import { EVENTS_BEGIN } from '../../src/storage/events/event-log.js';
import { createSqlEventLog } from '../../src/storage/events/sql-event-log.js';
import { settleRestored } from '../../src/storage/sql/backup/after-restore.js';
import { backUpDatabase, restoreDatabase } from '../../src/storage/sql/backup/backup.js';
import { openPostgres } from '../../src/storage/sql/postgres-database.js';
import type { SqlDatabase } from '../../src/storage/sql/sql-database.js';
import { ALICE, anEvent } from '../helpers/http/webhook-samples.js';
import { testFolder } from '../helpers/processes/test-folder.js';
import { startInstalledPostgres } from '../helpers/storage/installed-postgres.js';
import { type OwnPostgres, ownPostgres } from '../helpers/storage/postgres.js';

const folder = testFolder();
const ids = (events: readonly { readonly id: string }[]) => events.map(({ id }) => id);
/** Transactions that no server of a test comes to. */
const FAR = 900_000_000;

let server: OwnPostgres;

beforeAll(async () => {
  server = await ownPostgres();
});
afterAll(() => server.stop());

/** Writes what came from another server: an event for each of these transactions, in the order of their numbers. */
async function fromElsewhere(database: SqlDatabase, transactions: readonly number[]): Promise<readonly string[]> {
  const events = transactions.map((tx) => ({ tx, event: anEvent() }));
  const insert = {
    name: 'test_event_of_elsewhere',
    text: 'insert into tollhouse_event (tx, id, type, at, owner, data) values ($1, $2, $3, $4, $5, $6)',
  };
  for (const { tx, event } of events) {
    await database.query(insert, tx, event.id, event.type, event.at, event.owner, JSON.stringify(event.data));
  }
  return ids(events.map(({ event }) => event));
}

describe('events of books that have come from a Postgres server that had counted further', () => {
  let database: SqlDatabase;

  beforeEach(async () => {
    database = await openPostgres(await server.newDatabase());
  });
  afterEach(() => database.close());

  test('are all there after the restore, in the order in which they were told, and before what happens since', async () => {
    const log = createSqlEventLog(database);
    // The second of them has drawn its number before the third, and was told after it.
    const [first, late, second] = await fromElsewhere(database, [FAR, FAR + 7, FAR + 3]);
    expect(await log.list(ALICE, { limit: 9 })).toEqual([]);
    await settleRestored(database, Date.now());
    const since = anEvent();
    await log.append([since]);
    const told = [first, second, late, since.id];
    expect(ids(await log.readAfter(ALICE, EVENTS_BEGIN, 9))).toEqual(told);
    expect(ids(await log.list(ALICE, { limit: 9 }))).toEqual([...told].reverse());
  });

  test('are gone on from: a stream with the id of one gets the next, and what happens since', async () => {
    const log = createSqlEventLog(database);
    const [next, last] = await fromElsewhere(database, [FAR + 5, FAR + 4]);
    await settleRestored(database, Date.now());
    const tail = createEventTail(log);
    let ring: () => void = () => undefined;
    const heard = new Promise<void>((resolve) => {
      ring = resolve;
    });
    const stop = await tail.follow(ALICE, () => ring());
    const since = anEvent();
    await log.append([since]);
    tail.wake();
    await heard;
    stop();
    await tail.close();
    const before = await log.find(ALICE, String(last));
    expect(ids(await log.readAfter(ALICE, before?.position ?? EVENTS_BEGIN, 9))).toEqual([next, since.id]);
  });

  test('stay where they are when the same books are settled or restored again', async () => {
    const log = createSqlEventLog(database);
    const [first] = await fromElsewhere(database, [FAR]);
    await settleRestored(database, Date.now());
    const before = await log.readAfter(ALICE, EVENTS_BEGIN, 9);
    await settleRestored(database, Date.now());
    expect(await log.readAfter(ALICE, EVENTS_BEGIN, 9)).toEqual(before);
    const [second] = await fromElsewhere(database, [FAR]);
    await settleRestored(database, Date.now());
    expect(ids(await log.readAfter(ALICE, EVENTS_BEGIN, 9))).toEqual([first, second]);
  });

  test('are listed on from a cursor of before without a gap', async () => {
    const log = createSqlEventLog(database);
    const all = await fromElsewhere(database, [FAR, FAR + 1, FAR + 2]);
    await settleRestored(database, Date.now());
    const page = await log.list(ALICE, { limit: 9, before: { tx: FAR + 2, seq: 3 } });
    expect(ids(page)).toEqual([...all].reverse());
  });

  test('are moved to the last of more than one statement takes', async () => {
    await database.query(
      {
        name: 'test_many_events',
        text: `insert into tollhouse_event (tx, id, type, at, owner, data)
          select ${FAR} + number / 3, 'evt_' || number, 'payment.settled', 1, $1, '{}' from generate_series(1, 20001) number`,
      },
      ALICE,
    );
    await settleRestored(database, Date.now());
    const [row] = await database.query({
      name: 'test_event_places',
      text: 'select max(tx) as last, min(tx) as first, count(distinct tx) as places from tollhouse_event',
    });
    expect(row).toMatchObject({ last: '0', first: '-6667', places: '6668' });
  });
});

test('a dump of one Postgres server brings its events to another one', async () => {
  const old = await startInstalledPostgres();
  if (old === undefined) return console.warn('SKIPPED, no PostgreSQL server is installed beside pg_dump');
  const [from, to, dump] = [await old.emptyDatabase(), await server.emptyDatabase(), folder.newPath('dump')];
  const events = [anEvent(), anEvent(), anEvent()];
  try {
    const database = await openPostgres(from);
    // More than the new one has behind it.
    await server.query(
      from,
      'do $$ begin for i in 1..20000 loop perform pg_current_xact_id(); commit; end loop; end $$',
    );
    for (const event of events) await createSqlEventLog(database).append([event]);
    await database.close();
    await backUpDatabase(from, dump);
  } finally {
    await old.stop();
  }
  await restoreDatabase(to, dump);
  const restored = await openPostgres(to);
  const since = anEvent();
  await createSqlEventLog(restored).append([since]);
  const listed = await createSqlEventLog(restored).list(ALICE, { limit: 9 });
  await restored.close();
  expect(ids(listed)).toEqual(ids([...events, since]).reverse());
});
