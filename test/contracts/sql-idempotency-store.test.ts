import { type IdempotencyBounds, RESPONSE_RETENTION_MS } from '../../src/storage/idempotency/idempotency-store.js';
import {
  createSqlIdempotencyStore,
  type PrunableIdempotencyStore,
} from '../../src/storage/idempotency/sql-idempotency-store.js';
import { openPostgres } from '../../src/storage/sql/postgres-database.js';
import type { SqlDatabase } from '../../src/storage/sql/sql-database.js';
import { openSqlite } from '../../src/storage/sql/sqlite/sqlite-database.js';
import { testFolder } from '../helpers/processes/test-folder.js';
import { type PostgresServer, startPostgres } from '../helpers/storage/postgres.js';
import { testClock } from '../helpers/test-clock.js';
import { until } from '../helpers/until.js';
import { answersRoomContract } from './answers-room.js';
import { idempotencyStoreContract, newRun } from './idempotency-store.js';

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
  const store = createSqlIdempotencyStore(database, { now, steady: now, ...bounds });
  const kept = async () => Number((await database.query(COUNT))[0]?.['count']);
  return { store, kept, advance, close: () => database.close() };
}

for (const { name, open } of DATABASES) {
  idempotencyStoreContract(name, () => openResponses(open));
  answersRoomContract(name, async (bounds) => {
    const opened = await openResponses(open, bounds);
    return { ...opened, makeFree: () => opened.store.prune(1_000) };
  });
}

describe.each(DATABASES)('pruning store on $name', ({ open }) => {
  const PAYLOAD = new Uint8Array(1_000);

  test('forgets what is too old in steps, and nothing else', async () => {
    const { store, advance, close } = await openResponses(open);
    const runs = Array.from({ length: 5 }, () => newRun());
    for (const run of runs) {
      await store.begin(run);
      await store.finish(run.id, run.lease, PAYLOAD);
    }
    await store.begin(newRun());
    await advance(RESPONSE_RETENTION_MS - 1);
    expect(await store.prune(100)).toBe(0);
    const young = newRun();
    await store.begin(young);
    await advance(1);

    expect([await store.prune(4), await store.prune(4), await store.prune(4)]).toEqual([4, 2, 0]);
    expect(await store.find(young.id, 'first')).toEqual({ status: 'running' });
    await close();
  });

  test('forgets the oldest where all together are too large, in steps, and no more than it takes', async () => {
    const { store, advance, close } = await openResponses(open, { maxBytes: 10_000 });
    const runs = Array.from({ length: 20 }, () => newRun());
    for (const run of runs) {
      await store.begin(run);
      await store.finish(run.id, run.lease, PAYLOAD);
      await advance(1);
    }
    const left = async () => {
      const found = await Promise.all(runs.map(({ id }) => store.find(id, 'first')));
      return found.filter((it) => it !== undefined).length;
    };

    expect(await store.prune(5)).toBe(5);
    expect(await left()).toBe(15);
    expect([await store.prune(100), await store.prune(100)]).toEqual([9, 0]);
    expect(await left()).toBe(6);
    expect(await store.find(runs.at(-1)?.id ?? '', 'first')).toMatchObject({ status: 'replay' });
    await close();
  });

  test('who fills the store loses nothing but its own, however old and small what others keep is', async () => {
    const { store, advance, close } = await openResponses(open, { maxBytes: 100_000 });
    const others = Array.from({ length: 20 }, (_, n) => newRun({ owner: `wallet ${n}` }));
    for (const run of others) {
      await store.begin(run);
      await store.finish(run.id, run.lease, new Uint8Array(500));
    }
    const unowned = newRun();
    await store.put(unowned.id, PAYLOAD);
    const greedy = Array.from({ length: 200 }, () => newRun().id);
    for (const id of greedy) {
      await advance(1);
      await store.put(id, PAYLOAD, 'greedy');
    }

    expect(await store.prune(60)).toBe(60);
    while ((await store.prune(60)) > 0);
    for (const { id } of others) expect(await store.find(id, 'first')).toMatchObject({ status: 'replay' });
    expect(await store.get(unowned.id)).toHaveLength(PAYLOAD.length);
    const left = await Promise.all(greedy.map(async (id) => (await store.get(id)) !== undefined));
    expect(left.filter(Boolean)).toHaveLength(51);
    expect(await store.get(greedy.at(-1) ?? '')).toHaveLength(PAYLOAD.length);
    await close();
  });

  test('of two who keep too much each is left with as much as the other, and who began with less loses nothing', async () => {
    const { store, close } = await openResponses(open, { maxBytes: 30_000 });
    const keep = async (owner: string, count: number) => {
      const ids = Array.from({ length: count }, () => newRun().id);
      for (const id of ids) await store.put(id, PAYLOAD, owner);
      return async () => (await Promise.all(ids.map((id) => store.get(id)))).filter(Boolean).length;
    };
    const left = [await keep('large', 40), await keep('small', 2), await keep('larger', 60)];
    await store.prune(1_000);

    const [large = 0, small, larger = 0] = await Promise.all(left.map((it) => it()));
    expect(small).toBe(2);
    expect(large + larger).toBe(17);
    expect(Math.abs(large - larger)).toBeLessThanOrEqual(1);
    await close();
  });

  test('of owners who have the same, as many lose something as it takes, and no more', async () => {
    const { store, kept, close } = await openResponses(open, { maxBytes: 16_000 });
    for (let n = 0; n < 17; n += 1) await store.put(newRun().id, new Uint8Array(488), `wallet ${n}`);
    expect(await store.prune(100)).toBe(1);
    expect(await kept()).toBe(16);
    await close();
  });

  test('what is put is forgotten too where nobody prunes: what is too old, once in 256', async () => {
    const { store, kept, advance, close } = await openResponses(open);
    await putMany(store, 200);
    await advance(RESPONSE_RETENTION_MS);
    await putMany(store, 55);
    expect(await kept()).toBe(255);

    await store.put('the 256th', PAYLOAD);
    await untilKept(kept, 56);
    expect(await store.get('the 256th')).toHaveLength(PAYLOAD.length);
    await close();
  });

  test('what is put beside others by a clock that has jumped ahead costs them nothing: set right, it finds them', async () => {
    const { store, kept, advance, close } = await openResponses(open, { steady: () => 0 });
    await store.put('the 1st', PAYLOAD);
    await advance(RESPONSE_RETENTION_MS);
    await putMany(store, 255);
    await putMany(store, 256);
    expect(await store.prune(0)).toBe(0);
    expect(await kept()).toBe(512);
    await advance(-RESPONSE_RETENTION_MS);
    expect(await store.get('the 1st')).toHaveLength(PAYLOAD.length);
    await close();
  });

  test('what is put is forgotten too where nobody prunes: the oldest where all together are too large', async () => {
    const { store, kept, advance, close } = await openResponses(open, { maxBytes: 10_000 });
    await putMany(store, 255);
    expect(await kept()).toBe(255);
    await advance(1);
    await store.put('the 256th', PAYLOAD);
    await untilKept(kept, 6);
    expect(await store.get('the 256th')).toHaveLength(PAYLOAD.length);

    await putMany(store, 256);
    await untilKept(kept, 6);
    await close();
  });

  test('one response that is larger than all that may be kept is forgotten like any other', async () => {
    const { store, kept, close } = await openResponses(open, { maxBytes: 10_000 });
    await store.put('large', new Uint8Array(20_000));
    expect(await store.prune(10)).toBe(1);
    expect(await kept()).toBe(0);
    await close();
  });

  async function putMany(store: PrunableIdempotencyStore, count: number): Promise<void> {
    for (let at = 0; at < count; at += 1) await store.put(newRun().id, PAYLOAD);
  }

  /** Nobody is told when a store has pruned itself. */
  async function untilKept(kept: () => Promise<number>, count: number): Promise<void> {
    let looks = 0;
    await until(async () => (await kept()) === count || ++looks === 2_000);
    expect(await kept()).toBe(count);
  }
});
