import { setTimeout as pause } from 'node:timers/promises';
import { boundedCache } from '../../lib/bounded-cache.js';
import type { LandedTransaction } from '../../solana/rpc/landed-transaction.js';
import { RpcError, type SolanaRpc } from '../../solana/rpc/rpc.js';

/** Reads a transaction that has landed; undefined while the chain cannot tell of it. Never rejects for an outage. */
export type LandedReader = (signature: string) => Promise<LandedTransaction | undefined>;

const REMEMBERED = 500;
const TRIES = 5;
const BETWEEN_TRIES_MS = 200;

/**
 * Makes a reader. A node may confirm a transaction a moment before it can tell about it, so a few tries are made; what
 * was read once is remembered.
 */
export function createLandedReader(rpc: Pick<SolanaRpc, 'getTransaction'>): LandedReader {
  const known = boundedCache<string, LandedTransaction>({ max: REMEMBERED });

  async function ask(signature: string): Promise<LandedTransaction | undefined> {
    for (let attempt = 1; attempt <= TRIES; attempt += 1) {
      if (attempt > 1) await pause(BETWEEN_TRIES_MS);
      const landed = await rpc.getTransaction(signature, 'confirmed');
      if (landed !== null) return landed;
    }
    return undefined;
  }

  return async (signature) => {
    const remembered = known.get(signature);
    if (remembered !== undefined) return remembered;
    try {
      const landed = await ask(signature);
      if (landed !== undefined) known.set(signature, landed);
      return landed;
    } catch (error) {
      if (error instanceof RpcError) return undefined;
      throw error;
    }
  };
}
