import type { Counters } from '../../src/storage/counters/counters.js';
import { openRedisCounters } from '../../src/storage/counters/redis-counters.js';
import { codeOf } from '../helpers/code-of.js';
import { openTcpRelay, type TcpRelay } from '../helpers/nodes/tcp-relay.js';
import { HAS_REDIS, type RedisServer, startRedis } from '../helpers/storage/redis.js';
import { testClock } from '../helpers/test-clock.js';
import { until } from '../helpers/until.js';
import { countersContract } from './counters.js';

/** How long a call waits for a response. */
const WAIT_MS = 2_000;

async function untilCounting(counters: Counters): Promise<void> {
  await until(async () => {
    try {
      return (await counters.increment('probe:1', 5_000)).count > 0;
    } catch {
      return false;
    }
  });
}

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
    await untilCounting(counters);
    expect(await counters.takeOnce('nonce:1', 5_000)).toBe(true);
    await counters.close();
    await again.stop();
  });

  describe('that falls silent', () => {
    let own: RedisServer;
    let relay: TcpRelay;
    let counters: Counters;

    beforeEach(async () => {
      own = await startRedis();
      relay = await openTcpRelay(own.url);
      counters = await openRedisCounters(relay.url);
    });
    afterEach(async () => {
      own.thaw();
      await counters.close();
      await relay.close();
      await own.stop();
    });

    /** How long some calls take that fail, one after the other, in milliseconds. */
    async function failing(calls: number): Promise<number> {
      const since = performance.now();
      for (let call = 0; call < calls; call += 1) {
        expect(await codeOf(Promise.resolve(counters.increment('limit:1', 5_000)))).toBe('store_unavailable');
      }
      return performance.now() - since;
    }

    test('is waited for once; while it hangs every call fails at once, and it is used again when it goes on', async () => {
      own.freeze();
      await failing(1);
      expect(await failing(10)).toBeLessThan(WAIT_MS);
      // It is looked for all the while, and that holds up nobody either.
      await until(() => relay.connections() > 2);
      expect(await failing(10)).toBeLessThan(WAIT_MS);
      own.thaw();
      await untilCounting(counters);
    });

    test('on one connection alone is used over another', async () => {
      expect((await counters.increment('limit:1', 60_000)).count).toBe(1);
      relay.freeze();
      await failing(1);
      await untilCounting(counters);
      expect((await counters.increment('limit:1', 60_000)).count).toBe(2);
    });

    test('for less than that is heard out', async () => {
      relay.latencyMs = WAIT_MS / 8;
      const counts = await Promise.all([1, 2, 3].map(() => counters.increment('limit:1', 60_000)));
      expect(counts.map(({ count }) => count)).toEqual([1, 2, 3]);
      expect(relay.connections()).toBe(1);
    });
  });

  test('that cannot be reached is one clear error', async () => {
    const own = await startRedis();
    await own.stop();
    expect(await codeOf(openRedisCounters(own.url))).toBe('store_unavailable');
  });
});
