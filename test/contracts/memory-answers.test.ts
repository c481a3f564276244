import { createMemoryIdempotencyStore } from '../../src/storage/idempotency/memory-idempotency-store.js';
import { testClock } from '../helpers/test-clock.js';
import { answersContract, newRun } from './answers.js';

answersContract('memory', async () => {
  const { now, advance } = testClock();
  return { answers: createMemoryIdempotencyStore({ now }), advance, close: async () => {} };
});

test('above its size the memory forgets what was used longest ago', async () => {
  const answers = createMemoryIdempotencyStore({ maxBytes: 10_000 });
  const runs = Array.from({ length: 20 }, () => newRun());
  for (const run of runs) {
    await answers.begin(run);
    expect(await answers.finish(run.id, run.lease, new Uint8Array(1_000))).toBe(true);
  }
  const left = await Promise.all(runs.map(async ({ id }) => (await answers.find(id, 'first')) !== undefined));
  expect(left).toEqual([...Array(14).fill(false), ...Array(6).fill(true)]);
});

test('an answer that is larger than the whole memory is not kept, and its caller is told', async () => {
  const answers = createMemoryIdempotencyStore({ maxBytes: 10_000 });
  const run = newRun();
  await answers.begin(run);
  expect(await answers.finish(run.id, run.lease, new Uint8Array(20_000))).toBe(false);
  expect(await answers.find(run.id, 'first')).toBeUndefined();
});

test('what is put counts towards the size as well, and what is larger than all of it leaves nothing under its id', async () => {
  const answers = createMemoryIdempotencyStore({ maxBytes: 10_000 });
  const ids = Array.from({ length: 20 }, () => newRun().id);
  for (const id of ids) await answers.put(id, new Uint8Array(1_000));
  const left = await Promise.all(ids.map(async (id) => (await answers.get(id)) !== undefined));
  expect(left).toEqual([...Array(14).fill(false), ...Array(6).fill(true)]);

  const last = ids.at(-1) ?? '';
  await answers.put(last, new Uint8Array(20_000));
  expect(await answers.get(last)).toBeUndefined();
  expect(await answers.get(ids.at(-2) ?? '')).toHaveLength(1_000);
});
