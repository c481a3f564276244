import { createMemoryIdempotencyStore } from '../../src/storage/idempotency/memory-idempotency-store.js';
import { testClock } from '../helpers/test-clock.js';
import { answersRoomContract } from './answers-room.js';
import { idempotencyStoreContract, newRun } from './idempotency-store.js';

idempotencyStoreContract('memory', async () => {
  const { now, advance } = testClock();
  return { store: createMemoryIdempotencyStore({ now }), advance, close: async () => {} };
});

answersRoomContract('memory', async (bounds) => {
  const { now, advance } = testClock();
  const store = createMemoryIdempotencyStore({ now, ...bounds });
  return { store, advance, makeFree: async () => {}, close: async () => {} };
});

test('above its size the memory forgets what was used longest ago', async () => {
  const store = createMemoryIdempotencyStore({ maxBytes: 10_000 });
  const runs = Array.from({ length: 20 }, () => newRun());
  for (const run of runs) {
    await store.begin(run);
    expect(await store.finish(run.id, run.lease, new Uint8Array(1_000))).toBe(true);
  }
  const left = await Promise.all(runs.map(async ({ id }) => (await store.find(id, 'first')) !== undefined));
  expect(left).toEqual([...Array(14).fill(false), ...Array(6).fill(true)]);
});

test('a response that is larger than the whole memory is not kept, and its caller is told', async () => {
  const store = createMemoryIdempotencyStore({ maxBytes: 10_000 });
  const run = newRun();
  await store.begin(run);
  expect(await store.finish(run.id, run.lease, new Uint8Array(20_000))).toBe(false);
  expect(await store.find(run.id, 'first')).toBeUndefined();
});

test('what is put counts towards the size as well, and what is larger than all of it leaves nothing under its id', async () => {
  const store = createMemoryIdempotencyStore({ maxBytes: 10_000 });
  const ids = Array.from({ length: 20 }, () => newRun().id);
  for (const id of ids) await store.put(id, new Uint8Array(1_000));
  const left = await Promise.all(ids.map(async (id) => (await store.get(id)) !== undefined));
  expect(left).toEqual([...Array(14).fill(false), ...Array(6).fill(true)]);

  const last = ids.at(-1) ?? '';
  await store.put(last, new Uint8Array(20_000));
  expect(await store.get(last)).toBeUndefined();
  expect(await store.get(ids.at(-2) ?? '')).toHaveLength(1_000);
});

test('who fills the memory pushes out nothing but its own, however small the shares of others are', async () => {
  const store = createMemoryIdempotencyStore({ maxBytes: 100_000 });
  const others = Array.from({ length: 20 }, (_, n) => ({ ...newRun(), owner: `wallet ${n}` }));
  for (const run of others) {
    await store.begin(run);
    await store.finish(run.id, run.lease, new Uint8Array(500));
  }
  const greedy = Array.from({ length: 500 }, () => newRun().id);
  for (const id of greedy) await store.put(id, new Uint8Array(1_000), 'greedy');

  for (const { id } of others) expect(await store.find(id, 'first')).toMatchObject({ status: 'replay' });
  expect(await store.get(greedy[0] ?? '')).toBeUndefined();
  expect(await store.get(greedy.at(-1) ?? '')).toHaveLength(1_000);
});

test('of owners who have the same, as many lose something as it takes, and no more', async () => {
  const { now, advance } = testClock();
  const store = createMemoryIdempotencyStore({ maxBytes: 16_000, retentionMs: 1_000, now });
  const ids = Array.from({ length: 17 }, () => newRun().id);
  for (const [n, id] of ids.entries()) await store.put(id, new Uint8Array(488), `wallet ${n}`);
  const left = await Promise.all(ids.map(async (id) => (await store.get(id)) !== undefined));
  expect(left.filter(Boolean)).toHaveLength(15);

  await advance(1_000);
  for (const id of ids) await store.put(`${id} again`, new Uint8Array(100), 'greedy');
  expect(await store.get(`${ids[0]} again`)).toHaveLength(100);
});
