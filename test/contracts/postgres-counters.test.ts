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

test('counters on Postgres answer while all connections for other work are in use', async () => {
  const database = await openPostgres(url);
  const counters = createSqlCounters(database);
  let isOver = false;
  const sleep = { name: 'test_sleep', text: 'select pg_sleep(2)::text as slept' };
  const slow = Promise.all(
    Array.from({ length: 20 }, async () => {
      await database.query(sleep);
      isOver = true;
    }),
  );
  try {
    expect(await counters.increment('limit:busy', 60_000)).toMatchObject({ count: 1 });
    expect(isOver).toBe(false);
    // Of these none waits for the first of those.
    expect(await counters.takeOnce('mark:busy', 60_000)).toBe(true);
  } finally {
    await slow;
    await database.close();
  }
}, 30_000);
