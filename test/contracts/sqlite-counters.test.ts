import { createSqlCounters } from '../../src/storage/counters/sql-counters.js';
import { openSqlite } from '../../src/storage/sql/sqlite/sqlite-database.js';
import { testFolder } from '../helpers/processes/test-folder.js';
import { testClock } from '../helpers/test-clock.js';
import { countersContract } from './counters.js';

const folder = testFolder();

async function open(path = folder.newPath('db')) {
  const { now, advance } = testClock();
  const database = await openSqlite(path);
  return { counters: { ...createSqlCounters(database, now), close: () => database.close() }, advance };
}

countersContract('SQLite', async () => open());

test('marks, values and counts outlive the process', async () => {
  const path = folder.newPath('db');
  const first = await open(path);
  await first.counters.takeOnce('denied:1', 5_000);
  await first.counters.put('session:1', 'value', 5_000);
  await first.counters.close();

  const { counters } = await open(path);
  expect(await counters.takeOnce('denied:1', 5_000)).toBe(false);
  expect(await counters.get('session:1')).toBe('value');
  await counters.close();
});

test('pruning forgets what has expired, in steps, and nothing else', async () => {
  const { counters, advance } = await open();
  for (const at of [1, 2, 3]) {
    await counters.takeOnce(`nonce:${at}`, 1_000);
    await counters.put(`session:${at}`, 'value', 1_000);
    await counters.increment(`limit:${at}`, 1_000);
  }
  await counters.takeOnce('nonce:lives', 5_000);
  await advance(1_001);

  expect([await counters.prune(2), await counters.prune(2), await counters.prune(2)]).toEqual([6, 3, 0]);
  expect(await counters.anyTaken(['nonce:lives'])).toBe(true);
  await counters.close();
});
