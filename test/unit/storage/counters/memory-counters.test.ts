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
  const { counters, advance } = open({ maxMarks: 3 });
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

test('marks of strangers who sign in with all that a process can do refuse nobody', async () => {
  const { counters, advance } = open();
  let taken = 0;
  for (let at = 0; at < 600_000; at += 1) if (await counters.takeOnce(`nonce:${at}`, 360_000)) taken += 1;
  expect(taken).toBe(600_000);
  expect(await counters.takeOnce('nonce:holder', 360_000)).toBe(true);
  expect(await counters.takeOnce('nonce:0', 360_000)).toBe(false);
  await advance(360_000);
  expect(await counters.takeOnce('nonce:0', 360_000)).toBe(true);
});

test('marks that live for long keep none that have died in a full space', async () => {
  const { counters, advance } = open({ maxMarks: 3 });
  await counters.takeOnce('denied:long', 60_000);
  for (const key of ['denied:1', 'denied:2']) await counters.takeOnce(key, 1_000);
  await advance(1_000);
  for (const key of ['denied:3', 'denied:4']) expect(await counters.takeOnce(key, 60_000)).toBe(true);
  expect(await codeOf(counters.takeOnce('denied:5', 1_000))).toBe('store_unavailable');
  expect(await counters.anyTaken(['denied:long'])).toBe(true);
});

test('a space of values warns once when it pushes out one that lives, and not for those that have died', async () => {
  const warnings: unknown[] = [];
  const spy = jest.spyOn(process, 'emitWarning').mockImplementation((...args) => void warnings.push(args));
  const { counters, advance } = open({ maxEntries: 3 });
  for (const at of [1, 2, 3]) await counters.put(`session:${at}`, 'dies', 1_000);
  await advance(2_000);
  for (const at of [4, 5, 6]) await counters.put(`session:${at}`, 'lives', 60_000);
  const before = warnings.length;
  for (const at of [7, 8, 9]) await counters.put(`session:${at}`, 'lives', 60_000);
  spy.mockRestore();

  expect(before).toBe(0);
  expect(warnings).toEqual([[expect.stringContaining('"session:"'), { code: 'TOLLHOUSE_MEMORY_FULL' }]]);
});
