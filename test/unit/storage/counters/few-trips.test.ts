import type { Counters } from '../../../../src/storage/counters/counters.js';
import { countFewTrips } from '../../../../src/storage/counters/few-trips.js';
import { createMemoryCounters } from '../../../../src/storage/counters/memory-counters.js';
import { testClock } from '../../../helpers/test-clock.js';

const WINDOW_MS = 1_000;
const LIMIT = 80;

/** Instances that count at one place, and how often they ask there. */
function counting() {
  const { now, advance } = testClock();
  const counters = createMemoryCounters({ now });
  const trips = { count: 0 };
  const increment: Counters['increment'] = (...asked) => {
    trips.count += 1;
    return counters.increment(...asked);
  };
  const instance = () => countFewTrips({ counters: { increment }, windowMs: WINDOW_MS, now });
  return { instance, trips, advance };
}

/** How many of so many requests an instance lets in. */
async function letIn(count: ReturnType<typeof countFewTrips>, requests: number, limit = LIMIT): Promise<number> {
  let passed = 0;
  for (let asked = 0; asked < requests; asked += 1) if ((await count('calls:one', limit)).count <= limit) passed += 1;
  return passed;
}

test('an instance alone lets in exactly as many as the limit says, and asks for few of the first half', async () => {
  const { instance, trips } = counting();
  const count = instance();
  expect(await letIn(count, LIMIT / 2)).toBe(LIMIT / 2);
  expect(trips.count).toBeLessThanOrEqual(4);
  expect(await letIn(count, 3 * LIMIT)).toBe(LIMIT / 2);
});

test('many at once are counted no less exactly', async () => {
  const { instance } = counting();
  const count = instance();
  const counts = await Promise.all(Array.from({ length: 3 * LIMIT }, () => count('calls:one', LIMIT)));
  expect(counts.filter((it) => it.count <= LIMIT)).toHaveLength(LIMIT);
});

test('of a small limit each one is asked for', async () => {
  const { instance, trips } = counting();
  const [one, other] = [instance(), instance()];
  expect((await letIn(one, 5, 7)) + (await letIn(other, 5, 7))).toBe(7);
  expect(trips.count).toBe(10);
});

test('several instances let in an eighth more each at most', async () => {
  const { instance } = counting();
  const instances = [instance(), instance(), instance()];
  let passed = 0;
  for (let round = 0; round < LIMIT; round += 1) for (const it of instances) passed += await letIn(it, 1);
  expect(passed).toBeGreaterThanOrEqual(LIMIT);
  expect(passed).toBeLessThanOrEqual(LIMIT + (instances.length * LIMIT) / 8);
});

test('the next window begins at zero', async () => {
  const { instance, advance } = counting();
  const count = instance();
  await letIn(count, 2 * LIMIT);
  await advance(WINDOW_MS + 1);
  expect(await letIn(count, 2 * LIMIT)).toBe(LIMIT);
});

test('a place that cannot be asked rejects, once what an instance counts by itself is used up', async () => {
  const away = () => Promise.reject(new Error('away'));
  const count = countFewTrips({ counters: { increment: away }, windowMs: WINDOW_MS, now: () => 0 });
  await letIn(count, LIMIT / 8);
  await expect(count('calls:one', LIMIT)).rejects.toThrow('away');
});
