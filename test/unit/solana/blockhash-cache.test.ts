import {
  type BlockhashCache,
  type BlockhashCacheOptions,
  createBlockhashCache,
} from '../../../src/solana/blockhash-cache.js';
import type { SolanaRpc } from '../../../src/solana/rpc.js';
import { createSolanaRpc } from '../../../src/solana/rpc-client.js';
import { closeRpcEndpoints, type RpcEndpoint, startRpcEndpoint } from '../../helpers/rpc-endpoint.js';
import { until } from '../../helpers/until.js';

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

  it('stays quiet in the background when the endpoint fails', async () => {
    endpoint.react = () => ({ error: { code: -32602 } });
    const { peek } = create({ warmEveryMs: 1 });
    const peeking = setInterval(peek, 1);
    await until(() => endpoint.calls.length > 2);
    clearInterval(peeking);
    expect(peek()).toBeUndefined();
  });
});
