import { type IdempotencyBounds, RESPONSE_RETENTION_MS } from '../../src/storage/idempotency/idempotency-store.js';
import {
  createSqlIdempotencyStore,
  type PrunableIdempotencyStore,
} from '../../src/storage/idempotency/sql-idempotency-store.js';
import { openPostgres } from '../../src/storage/sql/postgres-database.js';
import type { SqlDatabase } from '../../src/storage/sql/sql-database.js';
import { openSqlite } from '../../src/storage/sql/sqlite/sqlite-database.js';
import { type PostgresServer, startPostgres } from '../helpers/postgres.js';
import { testClock } from '../helpers/test-clock.js';
import { testFolder } from '../helpers/test-folder.js';
import { until } from '../helpers/until.js';
import { answersContract, newRun } from './answers.js';

const folder = testFolder();
let server: PostgresServer;
let url: string;

beforeAll(async () => {
  server = await startPostgres();
  url = await server.newDatabase();
});
afterAll(() => server.stop());

async function emptyPostgres(): Promise<SqlDatabase> {
  const database = await openPostgres(url);
  await server.query(url, 'truncate tollhouse_answer');
  return database;
}

const DATABASES = [
  { name: 'SQLite', open: () => openSqlite(folder.newPath('db')) },
  { name: 'Postgres', open: emptyPostgres },
];

const COUNT = { name: 'test_count_answers', text: 'select count(*) as count from tollhouse_answer' };

async function openResponses(openDatabase: () => Promise<SqlDatabase>, bounds: IdempotencyBounds = {}) {
  const { now, advance } = testClock();
  const database = await openDatabase();
  const answers = createSqlIdempotencyStore(database, { now, ...bounds });
  const kept = async () => Number((await database.query(COUNT))[0]?.['count']);
  return { answers, kept, advance, close: () => database.close() };
}

for (const { name, open } of DATABASES) answersContract(name, () => openResponses(open));

describe.each(DATABASES)('pruning answers on $name', ({ open }) => {
  const PAYLOAD = new Uint8Array(1_000);

  test('forgets what is too old in steps, and nothing else', async () => {
    const { answers, advance, close } = await openResponses(open);
    const runs = Array.from({ length: 5 }, () => newRun());
    for (const run of runs) {
      await answers.begin(run);
      await answers.finish(run.id, run.lease, PAYLOAD);
    }
    await answers.begin(newRun());
    await advance(RESPONSE_RETENTION_MS - 1);
    expect(await answers.prune(100)).toBe(0);
    const young = newRun();
    await answers.begin(young);
    await advance(1);

    expect([await answers.prune(4), await answers.prune(4), await answers.prune(4)]).toEqual([4, 2, 0]);
    expect(await answers.find(young.id, 'first')).toEqual({ status: 'running' });
    await close();
  });

  test('forgets the oldest where all together are too large, in steps, and no more than it takes', async () => {
    const { answers, advance, close } = await openResponses(open, { maxBytes: 10_000 });
    const runs = Array.from({ length: 20 }, () => newRun());
    for (const run of runs) {
      await answers.begin(run);
      await answers.finish(run.id, run.lease, PAYLOAD);
      await advance(1);
    }
    const left = async () => {
      const found = await Promise.all(runs.map(({ id }) => answers.find(id, 'first')));
      return found.filter((it) => it !== undefined).length;
    };

    expect(await answers.prune(5)).toBe(5);
    expect(await left()).toBe(15);
    expect([await answers.prune(100), await answers.prune(100)]).toEqual([9, 0]);
    expect(await left()).toBe(6);
    expect(await answers.find(runs.at(-1)?.id ?? '', 'first')).toMatchObject({ status: 'replay' });
    await close();
  });

  test('what is put is forgotten too where nobody prunes: what is too old, once in 256', async () => {
    const { answers, kept, advance, close } = await openResponses(open);
    await putMany(answers, 200);
    await advance(RESPONSE_RETENTION_MS);
    await putMany(answers, 55);
    expect(await kept()).toBe(255);

    await answers.put('the 256th', PAYLOAD);
    await untilKept(kept, 56);
    expect(await answers.get('the 256th')).toHaveLength(PAYLOAD.length);
    await close();
  });

  test('what is put is forgotten too where nobody prunes: the oldest where all together are too large', async () => {
    const { answers, kept, advance, close } = await openResponses(open, { maxBytes: 10_000 });
    await putMany(answers, 255);
    expect(await kept()).toBe(255);
    await advance(1);
    await answers.put('the 256th', PAYLOAD);
    await untilKept(kept, 6);
    expect(await answers.get('the 256th')).toHaveLength(PAYLOAD.length);

    await putMany(answers, 256);
    await untilKept(kept, 6);
    await close();
  });

  test('one answer that is larger than all that may be kept is forgotten like any other', async () => {
    const { answers, kept, close } = await openResponses(open, { maxBytes: 10_000 });
    await answers.put('large', new Uint8Array(20_000));
    expect(await answers.prune(10)).toBe(1);
    expect(await kept()).toBe(0);
    await close();
  });

  async function putMany(answers: PrunableIdempotencyStore, count: number): Promise<void> {
    for (let at = 0; at < count; at += 1) await answers.put(newRun().id, PAYLOAD);
  }

  /** Nobody is told when a store has pruned itself. */
  async function untilKept(kept: () => Promise<number>, count: number): Promise<void> {
    let looks = 0;
    await until(async () => (await kept()) === count || ++looks === 2_000);
    expect(await kept()).toBe(count);
  }
});
