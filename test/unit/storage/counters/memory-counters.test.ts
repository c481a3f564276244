import { createMemoryCounters, type MemoryCountersOptions } from '../../../../src/storage/counters/memory-counters.js';
import { countersContract } from '../../../contracts/counters.js';
import { codeOf } from '../../../helpers/code-of.js';

const START = 1_700_000_000_000;

function open(options: Omit<MemoryCountersOptions, 'now'> = {}) {
  let time = START;
  const advance = async (milliseconds: number) => {
    time += milliseconds;
  };
  return { counters: createMemoryCounters({ ...options, now: () => time }), advance };
}

countersContract('memory', async () => open());

test('a full space of marks refuses the next one, forgets none, and takes more when old ones have died', async () => {
  const { counters, advance } = open({ maxEntries: 3 });
  for (const key of ['n:1', 'n:2', 'n:3']) expect(await counters.takeOnce(key, 5_000)).toBe(true);

  expect(await codeOf(counters.takeOnce('n:4', 5_000))).toBe('store_unavailable');
  for (const key of ['n:1', 'n:2', 'n:3']) expect(await counters.takeOnce(key, 5_000)).toBe(false);

  await advance(5_001);
  expect(await counters.takeOnce('n:4', 5_000)).toBe(true);
});

test('what fills one space pushes nothing out of another', async () => {
  const { counters } = open({ maxEntries: 3 });
  await counters.put('session:1', 'mine', 5_000);
  for (let at = 0; at < 10; at += 1) {
    await counters.put(`challenge:${at}`, 'flood', 5_000);
    await counters.increment(`limit:${at}`, 5_000);
  }
  for (const key of ['nonce:1', 'nonce:2', 'nonce:3']) await counters.takeOnce(key, 5_000);

  expect(await counters.get('session:1')).toBe('mine');
  expect(await counters.takeOnce('denied:1', 5_000)).toBe(true);
});

test('a space of values stays within its bound; the dead go before the living', async () => {
  const { counters, advance } = open({ maxEntries: 3 });
  await counters.put('session:lives', 'yes', 60_000);
  await counters.put('session:dies', 'soon', 1_000);
  await counters.put('session:dies-too', 'soon', 1_000);
  await advance(2_000);
  await counters.put('session:new', 'yes', 60_000);
  await counters.put('session:newer', 'yes', 60_000);
  expect(await counters.get('session:lives')).toBe('yes');

  for (const at of [1, 2, 3]) await counters.put(`session:${at}`, 'yes', 60_000);
  expect(await counters.get('session:lives')).toBeUndefined();
});
