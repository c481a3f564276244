import { boundedCache } from '../../lib/bounded-cache.js';
import type { Commitment } from '../../protocol/types.js';
import type { LatestBlockhash, SolanaRpc } from '../rpc/rpc.js';

/** Settings of {@link createBlockhashCache}. */
export interface BlockhashCacheOptions {
  readonly rpc: Pick<SolanaRpc, 'getLatestBlockhash'>;
  /** Which block's hash is taken; `processed` ones may be on a fork that dies. Default `confirmed`. */
  readonly commitment?: Commitment;
  /** How old a hash may be and still be handed out, in milliseconds. A hash lives some 30 s on mainnet. Default 5,000. */
  readonly maxAgeMs?: number;
  /**
   * Renews the hash in the background this often, in milliseconds, as long as `peek()` is being called.
   * Default 0: never, so that `peek()` alone costs no RPC call.
   */
  readonly warmEveryMs?: number;
  /** Clock in milliseconds, never going back. Default `performance.now`. */
  readonly now?: () => number;
}

/** A recent blockhash for everybody who needs one, and what is known about earlier ones. */
export interface BlockhashCache {
  /** A hash younger than `maxAgeMs`. Callers at the same time share one call. Rejects with RpcError. */
  latest(): Promise<LatestBlockhash>;
  /** The hash at hand if it is fresh; never waits and never fails. */
  peek(): LatestBlockhash | undefined;
  /** Keeps how long a hash lives that was learned elsewhere. */
  remember(blockhash: LatestBlockhash): void;
  /** Last block height in which a hash is valid, if it is among the last 1,000 that were seen. */
  lastValidBlockHeightOf(blockhash: string): number | undefined;
  /** Stops the renewal. */
  close(): void;
}

/** Hashes remembered; one every 5 s is more than an hour, and a hash is dead after a minute. */
const REMEMBERED = 1_000;
const DEFAULT_MAX_AGE_MS = 5_000;

/** After this many renewals without a `peek()` nobody is interested. */
const IDLE_ROUNDS = 3;

/** Creates a cache. Nothing is asked before the first `latest()` (or `peek()` where `warmEveryMs` is set). */
export function createBlockhashCache(options: BlockhashCacheOptions): BlockhashCache {
  const { rpc, commitment = 'confirmed', maxAgeMs = DEFAULT_MAX_AGE_MS, warmEveryMs = 0 } = options;
  const now = options.now ?? (() => performance.now());
  const known = boundedCache<string, number>({ max: REMEMBERED });
  let current: { readonly hash: LatestBlockhash; readonly askedAt: number } | undefined;
  let underWay: Promise<LatestBlockhash> | undefined;
  let peeked = false;
  let idleRounds = 0;
  let timer: NodeJS.Timeout | undefined;
  let closed = false;

  function remember({ blockhash, lastValidBlockHeight }: LatestBlockhash): void {
    known.set(blockhash, lastValidBlockHeight);
  }

  function fresh(): LatestBlockhash | undefined {
    return current !== undefined && now() - current.askedAt < maxAgeMs ? current.hash : undefined;
  }

  async function ask(): Promise<LatestBlockhash> {
    const askedAt = now();
    const hash = await rpc.getLatestBlockhash(commitment);
    remember(hash);
    current = { hash, askedAt };
    return hash;
  }

  function renew(): Promise<LatestBlockhash> {
    underWay ??= ask().finally(() => {
      underWay = undefined;
    });
    return underWay;
  }

  function warm(): void {
    idleRounds = peeked ? 0 : idleRounds + 1;
    peeked = false;
    timer = undefined;
    if (closed || idleRounds >= IDLE_ROUNDS) return;
    timer = setTimeout(warm, warmEveryMs);
    timer.unref();
    // An outage shows where the hash is needed; here the old one just runs out.
    renew().catch(() => undefined);
  }

  return {
    latest: async () => fresh() ?? renew(),
    peek() {
      peeked = true;
      if (warmEveryMs > 0 && timer === undefined && !closed) warm();
      return fresh();
    },
    remember,
    lastValidBlockHeightOf: (blockhash) => known.get(blockhash),
    close() {
      closed = true;
      clearTimeout(timer);
    },
  };
}
