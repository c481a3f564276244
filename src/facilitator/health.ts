import { LRUCache } from 'lru-cache';
import type { SolanaRpc } from '../solana/rpc.js';

/** Whether a facilitator can settle. */
export interface FacilitatorHealth {
  /** `degraded`: the fee payer is nearly empty; `down`: the chain cannot be reached, or the fee payer is empty. */
  readonly status: 'active' | 'degraded' | 'down';
  /** The fee payer that is offered, base58. */
  readonly wallet: string;
  /** What it holds, if that could be asked. */
  readonly lamports?: bigint;
}

/** What one settlement costs its fee payer: two signatures (the priority fee of the official client is below one lamport). */
const LAMPORTS_PER_SETTLEMENT = 10_000n;
/** Below what this many settlements cost, the fee payer is nearly empty. */
const RESERVE_SETTLEMENTS = 100n;
const FRESH_MS = 5_000;
const PROBE = 'probe';

/** Asks the chain how things are, at most once in five seconds however often it is asked itself. Never rejects. */
export function createHealthProbe(rpc: SolanaRpc, wallet: string): () => Promise<FacilitatorHealth> {
  const cache = new LRUCache<string, FacilitatorHealth>({
    max: 1,
    ttl: FRESH_MS,
    fetchMethod: () => probe(rpc, wallet),
  });
  return async () => (await cache.fetch(PROBE)) ?? { status: 'down', wallet };
}

async function probe(rpc: SolanaRpc, wallet: string): Promise<FacilitatorHealth> {
  try {
    const [account] = await rpc.getAccounts([wallet], 'confirmed');
    const lamports = account?.lamports ?? 0n;
    if (lamports < LAMPORTS_PER_SETTLEMENT) return { status: 'down', wallet, lamports };
    const status = lamports < LAMPORTS_PER_SETTLEMENT * RESERVE_SETTLEMENTS ? 'degraded' : 'active';
    return { status, wallet, lamports };
  } catch {
    return { status: 'down', wallet };
  }
}
