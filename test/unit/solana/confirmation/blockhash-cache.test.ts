import {
  type BlockhashCache,
  type BlockhashCacheOptions,
  createBlockhashCache,
} from '../../../../src/solana/confirmation/blockhash-cache.js';
import type { SolanaRpc } from '../../../../src/solana/rpc/rpc.js';
import { createSolanaRpc } from '../../../../src/solana/rpc/rpc-client.js';
import { closeRpcEndpoints, type RpcEndpoint, startRpcEndpoint } from '../../../helpers/nodes/rpc-endpoint.js';
import { until } from '../../../helpers/until.js';

let endpoint: RpcEndpoint;
let rpc: SolanaRpc;
let cache: BlockhashCache;
const clock = { now: 0 };

/** A new hash with each call: hash-1, hash-2, … */
beforeEach(async () => {
  clock.now = 0;
  endpoint = await startRpcEndpoint(() => {
    const count = endpoint.calls.length;
    return {
      result: { context: { slot: count }, value: { blockhash: `hash-${count}`, lastValidBlockHeight: 150 + count } },
    };
  });
  rpc = createSolanaRpc({ urls: endpoint.url });
});

afterEach(async () => {
  cache.close();
  await rpc.close();
  await closeRpcEndpoints();
});

function create(options: Partial<BlockhashCacheOptions> = {}): BlockhashCache {
  cache = createBlockhashCache({ rpc, now: () => clock.now, maxAgeMs: 1_000, ...options });
  return cache;
}

describe('blockhash cache', () => {
  it('asks once for callers at the same time', async () => {
    const { latest } = create();
    const hashes = await Promise.all(Array.from({ length: 20 }, () => latest()));
    expect(new Set(hashes.map(({ blockhash }) => blockhash))).toEqual(new Set(['hash-1']));
    expect(endpoint.calls).toHaveLength(1);
    expect(endpoint.calls[0]?.params).toEqual([{ commitment: 'confirmed' }]);
  });

  it('hands out a hash until it is too old', async () => {
    const { latest, peek } = create();
    await latest();
    clock.now = 999;
    expect(peek()?.blockhash).toBe('hash-1');
    expect((await latest()).blockhash).toBe('hash-1');
    clock.now = 1_000;
    expect(peek()).toBeUndefined();
    expect((await latest()).blockhash).toBe('hash-2');
  });

  it('peeks without a call', () => {
    expect(create().peek()).toBeUndefined();
    expect(endpoint.calls).toHaveLength(0);
  });

  it('counts the age of a hash from when it was asked for', async () => {
    clock.now = 50_000;
    const { latest, peek } = create();
    await latest();
    expect(peek()?.blockhash).toBe('hash-1');
  });

  it('has a clock of its own', async () => {
    cache = createBlockhashCache({ rpc });
    await cache.latest();
    expect(cache.peek()?.blockhash).toBe('hash-1');
  });

  it('asks again after a failure', async () => {
    const { latest } = create();
    const { react } = endpoint;
    endpoint.react = () => ({ error: { code: -32602 } });
    await expect(latest()).rejects.toMatchObject({ failure: 'answer' });
    endpoint.react = react;
    await expect(latest()).resolves.toMatchObject({ blockhash: 'hash-2' });
  });

  it('knows how long earlier hashes live, and those it was told of', async () => {
    const { latest, remember, lastValidBlockHeightOf } = create();
    await latest();
    clock.now = 5_000;
    await latest();
    remember({ blockhash: 'told', lastValidBlockHeight: 9 });
    expect(['hash-1', 'hash-2', 'told', 'strange'].map(lastValidBlockHeightOf)).toEqual([151, 152, 9, undefined]);
  });

  it('forgets the oldest of very many', () => {
    const { remember, lastValidBlockHeightOf } = create();
    for (let count = 0; count <= 1_000; count += 1) remember({ blockhash: `${count}`, lastValidBlockHeight: count });
    expect(lastValidBlockHeightOf('0')).toBeUndefined();
    expect(lastValidBlockHeightOf('1000')).toBe(1_000);
  });

  it('renews in the background while it is peeked at, and stops when nobody does', async () => {
    const { peek } = create({ warmEveryMs: 5 });
    const peeking = setInterval(peek, 1);
    await until(() => endpoint.calls.length > 5);
    expect(peek()).toBeDefined();
    clearInterval(peeking);
    peek();

    let quiet = 0;
    let seen = endpoint.calls.length;
    const looking = setInterval(() => {
      quiet = endpoint.calls.length === seen ? quiet + 1 : 0;
      seen = endpoint.calls.length;
    }, 5);
    await until(() => quiet > 20);
    clearInterval(looking);
  });

  describe('from timer to timer', () => {
    const timers: (() => void)[] = [];
    let asked = 0;

    beforeEach(() => {
      timers.length = 0;
      asked = 0;
      const real = setTimeout;
      jest.spyOn(globalThis, 'setTimeout').mockImplementation((run) => {
        timers.push(() => run());
        return real(() => undefined, 0);
      });
    });
    afterEach(() => {
      jest.restoreAllMocks();
    });

    const counting = {
      async getLatestBlockhash() {
        asked += 1;
        return { blockhash: `hash-${asked}`, lastValidBlockHeight: 150 };
      },
    };

    it('renews with the first look, and twice more when nobody looks again', async () => {
      const { peek } = create({ rpc: counting, warmEveryMs: 5 });
      peek();
      for (let run = timers.shift(); run !== undefined && asked < 10; run = timers.shift()) {
        await new Promise((resolve) => setImmediate(resolve));
        run();
      }
      expect(asked).toBe(3);
      peek();
      expect(timers).toHaveLength(1);
    });

    it('has one timer, however often it is looked at', () => {
      const { peek } = create({ rpc: counting, warmEveryMs: 5 });
      for (let look = 0; look < 5; look += 1) peek();
      expect([timers.length, asked]).toEqual([1, 1]);
    });

    it('does nothing by itself unless it is told to', () => {
      create({ rpc: counting }).peek();
      expect([timers.length, asked]).toEqual([0, 0]);
    });

    it('does nothing more once it is closed', () => {
      const { peek, close } = create({ rpc: counting, warmEveryMs: 5 });
      close();
      peek();
      expect([timers.length, asked]).toEqual([0, 0]);
    });
  });

  it('stays quiet in the background when the endpoint fails', async () => {
    endpoint.react = () => ({ error: { code: -32602 } });
    const { peek } = create({ warmEveryMs: 1 });
    const peeking = setInterval(peek, 1);
    await until(() => endpoint.calls.length > 2);
    clearInterval(peeking);
    expect(peek()).toBeUndefined();
  });
});
