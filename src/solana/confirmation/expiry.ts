import { boundedCache } from '../../lib/bounded-cache.js';
import type { ChainTip } from '../rpc/rpc.js';
import type { PendingConfirmation } from './pending-confirmation.js';

/** Blocks in which a blockhash may be used (Solana's MAX_PROCESSING_AGE). */
export const BLOCKHASH_LIFE = 150;

/** Slots a node may lag behind and still call itself healthy (Solana's default health-check distance). */
export const HEALTHY_LAG = 128;

const REMEMBERED = 10_000;

/**
 * Knows after which height a blockhash is dead.
 *
 * Where nobody has said it, a height seen after the transaction was handed in gives an upper bound: the payer took the
 * hash from a block that existed by then, so at most as far ahead of the asked node as that node may lag, and it lives
 * 150 blocks more. The bound is kept per hash: it stays true, so that asking again does not start the wait anew.
 */
export function createExpiry(): (waiting: PendingConfirmation, tip: ChainTip) => boolean {
  const bounds = boundedCache<string, number>({ max: REMEMBERED });

  return (waiting, { blockHeight }) => {
    const { blockhash } = waiting.wanted;
    if (waiting.lastValidBlockHeight === undefined) {
      waiting.lastValidBlockHeight = bounds.get(blockhash) ?? blockHeight + BLOCKHASH_LIFE + HEALTHY_LAG;
      bounds.set(blockhash, waiting.lastValidBlockHeight);
    }
    return blockHeight > waiting.lastValidBlockHeight;
  };
}
