import { openRedisCounters } from '../../src/storage/counters/redis-counters.js';
import { codeOf } from '../helpers/code-of.js';
import { HAS_REDIS, type RedisServer, startRedis } from '../helpers/storage/redis.js';
import { testClock } from '../helpers/test-clock.js';
import { until } from '../helpers/until.js';
import { countersContract } from './counters.js';

/** Without a Redis server on the machine these tests are reported as skipped. */
const withRedis = HAS_REDIS ? describe : describe.skip;

withRedis('a Redis server', () => {
  let server: RedisServer;
  let opened = 0;

  beforeAll(async () => {
    server = await startRedis();
  });
  afterAll(() => server.stop());

  countersContract('Redis', async () => {
    const { now, advance } = testClock();
    opened += 1;
    return { counters: await openRedisCounters(server.url, { now, prefix: `test-${opened}:` }), advance };
  });

  test('that is gone fails every call at once, and is used again when it is back', async () => {
    const own = await startRedis();
    const counters = await openRedisCounters(own.url);
    await own.stop();
    expect(await codeOf(counters.takeOnce('nonce:1', 5_000))).toBe('store_unavailable');
    expect(await codeOf(counters.increment('limit:1', 5_000))).toBe('store_unavailable');

    const again = await startRedis(Number(new URL(own.url).port));
    await until(async () => {
      try {
        return (await counters.increment('limit:1', 5_000)).count > 0;
      } catch {
        return false;
      }
    });
    expect(await counters.takeOnce('nonce:1', 5_000)).toBe(true);
    await counters.close();
    await again.stop();
  });

  test('that cannot be reached is one clear error', async () => {
    const own = await startRedis();
    await own.stop();
    expect(await codeOf(openRedisCounters(own.url))).toBe('store_unavailable');
  });
});
