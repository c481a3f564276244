import type { SqlDatabase, Step } from '../../src/storage/sql/sql-database.js';
import { openSqlite } from '../../src/storage/sql/sqlite/sqlite-database.js';

const PUT = { name: 'put', text: 'insert into noted (id) values ($1) returning id' };
const ALL = { name: 'all', text: 'select id from noted order by id' };

const put = (id: string): Step => [PUT, id];

let database: SqlDatabase;
const noted = async () => (await database.query(ALL)).map(({ id }) => id);

beforeEach(async () => {
  database = await openSqlite(':memory:');
  await database.query({ name: 'make', text: 'create table noted (id text primary key)' });
});
afterEach(() => database.close());

test('writes that come at once are all there, each with what it answers', async () => {
  const rows = await Promise.all([database.query(...put('a')), database.batchIf(put('b'), [put('c')])]);
  expect(rows).toEqual([[{ id: 'a' }], [{ id: 'b' }]]);
  expect(await noted()).toEqual(['a', 'b', 'c']);
});

test('one that fails among others that come with it is taken back whole, and nothing of theirs', async () => {
  await database.query(...put('there'));
  const outcomes = await Promise.allSettled([
    database.query(...put('a')),
    database.batch([put('b'), put('there'), put('c')]),
    database.batchIf(put('d'), [put('e')]),
  ]);
  expect(outcomes).toMatchObject([
    { status: 'fulfilled', value: [{ id: 'a' }] },
    { status: 'rejected', reason: { code: 'store_unavailable' } },
    { status: 'fulfilled', value: [{ id: 'd' }] },
  ]);
  expect(await noted()).toEqual(['a', 'd', 'e', 'there']);
});

test('where all fail, nothing is there', async () => {
  await database.query(...put('there'));
  const outcomes = await Promise.allSettled([
    database.batch([put('a'), put('there')]),
    database.query(...put('there')),
  ]);
  expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect(await noted()).toEqual(['there']);
});
