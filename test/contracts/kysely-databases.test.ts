import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { openStorage } from '../../src/storage/open-storage.js';
import { SCHEMA_STEPS } from '../../src/storage/sql/migrations/steps.js';
import { readSchema } from '../../src/storage/sql/schema-state.js';
import type { Dialect, Row } from '../../src/storage/sql/sql-database.js';
import { emptyDatabases } from '../helpers/storage/empty-databases.js';
import { connectTo } from '../helpers/storage/schema-connection.js';
import { newClaim } from './ledger-samples.js';

const KINDS = emptyDatabases();

const NAMES = SCHEMA_STEPS.map(([name]) => name);
/** The last step that Kysely has made anywhere; those after it were always ours. */
const LAST_OF_KYSELY = '0012-one-sol';

/** Everything that a database tells of its tables, columns, constraints and indexes. */
const CATALOG: Readonly<Record<Dialect, readonly string[]>> = {
  sqlite: ['select type, name, tbl_name, sql from sqlite_master order by type, name'],
  postgres: [
    `select relname, relkind, relpersistence, reloptions, attnum, attname, attnotnull, attidentity, collname,
        format_type(atttypid, atttypmod) as type, pg_get_expr(adbin, adrelid) as value
      from pg_class join pg_attribute on attrelid = pg_class.oid and attnum > 0
      left join pg_collation on pg_collation.oid = attcollation
      left join pg_attrdef on adrelid = pg_class.oid and adnum = attnum
      where relnamespace = 'public'::regnamespace order by relname, attnum`,
    `select conrelid::regclass::text as relation, conname, contype, pg_get_constraintdef(oid) as definition
      from pg_constraint where connamespace = 'public'::regnamespace order by 1, 2`,
    `select tablename, indexname, indexdef from pg_indexes where schemaname = 'public' order by 1, 2`,
  ],
};

async function ask(url: string, ...texts: readonly string[]): Promise<readonly Row[]> {
  const connection = await connectTo(url);
  try {
    const answers: Row[] = [];
    for (const text of texts) answers.push(...(await connection.run(text)));
    return answers;
  } finally {
    await connection.close();
  }
}

/** Runs what was recorded of Kysely, until a step is booked. */
async function makeByKysely(url: string, dialect: Dialect, last = LAST_OF_KYSELY): Promise<void> {
  const lines = readFileSync(join(__dirname, 'kysely', `${dialect}.sql`), 'utf8').split('\n');
  const end = lines.findIndex(
    (line) => line.startsWith('insert into "tollhouse_migration"') && line.includes(`'${last}'`),
  );
  expect(end).toBeGreaterThan(0);
  await ask(url, ...lines.slice(1, end + 1));
}

const schemaOf = (url: string, dialect: Dialect) => ask(url, ...CATALOG[dialect]);
const BOOK = 'select name, timestamp from tollhouse_migration order by name';
const LOCK = 'select id, is_locked from tollhouse_migration_lock';

async function openAndUse(url: string): Promise<void> {
  const storage = await openStorage(url);
  expect((await storage.ledger.claim(newClaim())).status).toBe('won');
  await storage.close();
}

describe.each(KINDS)('a database that Kysely made, on $dialect', ({ dialect, newUrl }) => {
  test('is recognised as it is: nothing of its book changes, and what came after it is made', async () => {
    const url = await newUrl();
    await makeByKysely(url, dialect);
    const [book, lock] = [await ask(url, BOOK), await ask(url, LOCK)];
    await openAndUse(url);

    expect([(await ask(url, BOOK)).slice(0, book.length), await ask(url, LOCK)]).toEqual([book, lock]);
    expect(await readSchema(url)).toMatchObject({ made: NAMES, pending: [] });
  });

  test('has the very schema that a new one has, names of constraints included, and the same form of book', async () => {
    const [old, recent] = [await newUrl(), await newUrl()];
    await makeByKysely(old, dialect);
    await Promise.all([openAndUse(old), openAndUse(recent)]);

    expect(await schemaOf(recent, dialect)).toEqual(await schemaOf(old, dialect));
    expect(await ask(recent, LOCK)).toEqual(await ask(old, LOCK));
    const book = await ask(recent, BOOK);
    expect(book.map(({ name }) => name)).toEqual(NAMES);
    for (const { timestamp } of book) expect(new Date(String(timestamp)).toISOString()).toBe(timestamp);
  });

  test.each(['0001-payments', '0009-payouts'])('up to %s is brought up to date', async (last) => {
    const [old, recent] = [await newUrl(), await newUrl()];
    await makeByKysely(old, dialect, last);
    expect((await readSchema(old)).pending).toEqual(NAMES.filter((name) => name > last));
    await Promise.all([openAndUse(old), openAndUse(recent)]);

    expect(await schemaOf(old, dialect)).toEqual(await schemaOf(recent, dialect));
    expect((await readSchema(old)).pending).toEqual([]);
  });

  test('with a gap in its book is refused in a sentence, and left alone', async () => {
    const url = await newUrl();
    await makeByKysely(url, dialect, '0005-webhooks');
    await ask(url, `delete from tollhouse_migration where name = '0003-events'`);
    const before = [await schemaOf(url, dialect), await ask(url, BOOK)];
    const refusal = {
      code: 'bad_option',
      message: expect.stringMatching(
        /gap: step 0003-events was not made, though 0005-webhooks, which comes after it, was;/,
      ),
    };

    await expect(openStorage(url)).rejects.toMatchObject(refusal);
    await expect(readSchema(url)).rejects.toMatchObject(refusal);
    expect([await schemaOf(url, dialect), await ask(url, BOOK)]).toEqual(before);
  });
});

test('two instances that start at once on an empty Postgres wait for the lock, and one makes the schema', async () => {
  const [, postgres] = KINDS;
  const url = await postgres.newUrl();
  // As an instance of the first versions holds it.
  const holder = await connectTo(url);
  await holder.run('select pg_advisory_lock(3853314791062309107)');
  let opened = 0;
  const instances = [1, 2].map(async () => {
    const storage = await openStorage(url);
    opened += 1;
    return storage;
  });
  await pause(300);
  expect([opened, await schemaOf(url, 'postgres')]).toEqual([0, []]);
  await holder.close();

  const storages = await Promise.all(instances);
  const claim = newClaim();
  const claims = await Promise.all(
    storages.map(({ ledger }) => ledger.claim({ ...claim, lease: String(Math.random()) })),
  );
  expect(claims.map(({ status }) => status).sort()).toEqual(['busy', 'won']);
  const book = await ask(url, BOOK);
  expect(book.map(({ name }) => name)).toEqual(NAMES);
  expect(new Set(book.map(({ timestamp }) => timestamp)).size).toBe(1);
  await Promise.all(storages.map((storage) => storage.close()));
});
