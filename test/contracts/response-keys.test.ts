import { openStorage } from '../../src/storage/open-storage.js';
import type { Storage } from '../../src/storage/storage.js';
import { BOTH_DATABASES } from '../helpers/storage/both-databases.js';
import { testClock } from '../helpers/test-clock.js';

const DAY_MS = 86_400_000;

describe.each(BOTH_DATABASES)('the keys that responses are sealed with, on %s', (_name, openDatabase) => {
  const clock = testClock();
  let storage: Storage;
  let stop: () => Promise<void>;

  beforeEach(async () => {
    const database = await openDatabase();
    stop = database.stop;
    storage = await openStorage(database.url, { now: clock.now });
  });
  afterEach(async () => {
    await storage.close();
    await stop();
  });

  test('are in use for as long as responses are kept, since they sealed last, and are then forgotten', async () => {
    const { responseKeys: keys } = storage.gateway;
    expect(await keys.inUse()).toEqual([]);
    await keys.note('old');
    await clock.advance(DAY_MS / 2);
    await Promise.all([keys.note('new'), keys.note('new')]);
    await clock.advance(DAY_MS / 2 - 1);
    expect([await keys.inUse(), await keys.prune(9)]).toEqual([['new', 'old'], 0]);
    await clock.advance(1);
    expect(await keys.inUse()).toEqual(['new']);
    await keys.note('new');
    expect([await keys.prune(9), await keys.prune(9), await keys.inUse()]).toEqual([1, 0, ['new']]);
    await clock.advance(DAY_MS - 1);
    expect(await keys.inUse()).toEqual(['new']);
  });
});
