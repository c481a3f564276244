import { mkdirSync } from 'node:fs';
import type { Counters } from '../../src/storage/counters/counters.js';
import { openRedisCounters } from '../../src/storage/counters/redis-counters.js';
import { codeOf } from '../helpers/code-of.js';
import { openTcpRelay, type TcpRelay } from '../helpers/nodes/tcp-relay.js';
import { freePort } from '../helpers/processes/free-port.js';
import { testFolder } from '../helpers/processes/test-folder.js';
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

  describe('that answers with an error', () => {
    const folder = testFolder();
    let own: RedisServer;
    const opened: Counters[] = [];
    const count = async (counters: Counters) => counters.increment('limit:1', 60_000);
    const refused = (text: string) => expect.objectContaining({ message: expect.stringContaining(text) });

    async function open(url: string): Promise<Counters> {
      const counters = await openRedisCounters(url);
      opened.push(counters);
      return counters;
    }

    beforeEach(async () => {
      own = await startRedis();
    });
    afterEach(async () => {
      for (const counters of opened.splice(0)) await counters.close();
      await own.stop();
    });

    test('as it is a replica is not begun with, and says so', async () => {
      await own.command('REPLICAOF', '127.0.0.1', String(await freePort()));
      const opening = open(own.url);
      expect(await codeOf(opening)).toBe('store_unavailable');
      await expect(opening).rejects.toEqual(refused('READONLY'));
      await expect(opening).rejects.toEqual(refused('name its primary'));
    });

    test('as it has become a replica is left for the primary that its address leads to then', async () => {
      const [primary, relay] = [await startRedis(), await openTcpRelay(own.url)];
      const counters = await open(relay.url);
      await count(counters);
      await own.command('REPLICAOF', '127.0.0.1', new URL(primary.url).port);
      await expect(count(counters)).rejects.toEqual(refused('Redis refuses: READONLY, it is a replica'));
      relay.leadTo(primary.url);
      await untilCounting(counters);
      await relay.close();
      await primary.stop();
    });

    test('as its password was changed is told, whatever else its connection says', async () => {
      const relay = await openTcpRelay(own.url);
      const counters = await open(relay.url);
      await own.command('CONFIG', 'SET', 'requirepass', 'hunter2');
      relay.cut();
      await until(() =>
        count(counters).then(
          () => false,
          (error: Error) => error.message.includes('Redis refuses: NOAUTH'),
        ),
      );
      const wrong = own.url.replace('//', '//:wrong@');
      expect(await codeOf(open(wrong))).toBe('bad_option');
      await expect(open(wrong)).rejects.toEqual(refused('WRONGPASS'));
      await relay.close();
    });

    test('as it is still loading is waited for', async () => {
      const kept = ['--dir', folder.newPath('redis'), '--dbfilename', 'dump.rdb'];
      mkdirSync(kept[1]!);
      const before = await startRedis(undefined, kept);
      await before.command('EVAL', "for i = 1, 5000 do redis.call('SET', 'k' .. i, i) end", '0');
      await before.command('SAVE');
      await before.stop();
      const slow = ['--key-load-delay', '1000', '--loading-process-events-interval-bytes', '1024'];
      const loading = await startRedis(Number(new URL(before.url).port), [...kept, ...slow]);
      const opening = open(before.url);
      await loading.command('CONFIG', 'SET', 'key-load-delay', '0');
      expect((await count(await opening)).count).toBe(1);
      await loading.stop();
    });

    test.each(['/99', '/-1', '/abc'])('as it has no database %s is never used in another one', async (database) => {
      const opening = open(own.url + database);
      expect(await codeOf(opening)).toBe('bad_option');
      await expect(opening).rejects.toEqual(refused('database'));
    });

    test('as its databases have become fewer is not counted in another one', async () => {
      const relay = await openTcpRelay(own.url);
      const fewer = await startRedis(undefined, ['--databases', '1']);
      const counters = await open(`${relay.url}/3`);
      await count(counters);
      relay.leadTo(fewer.url);
      relay.cut();
      await until(() =>
        count(counters).then(
          () => false,
          (error: Error) => error.message.includes('it does not have that database'),
        ),
      );
      relay.leadTo(own.url);
      await untilCounting(counters);
      await relay.close();
      await fewer.stop();
    });
  });

  test('that cannot be reached is one clear error', async () => {
    const own = await startRedis();
    await own.stop();
    expect(await codeOf(openRedisCounters(own.url))).toBe('store_unavailable');
  });
});
