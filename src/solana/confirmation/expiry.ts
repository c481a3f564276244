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
 * 150 blocks more. The bound is kept per hash: it stays true, so that asking again does not start the wait anew. Where a blockhash is
 * certain to live no longer, no height beyond that bound is believed either: a sick node's would let a payer wait for hours.
 * @param isLifeCertain - whether blockhashes live {@link BLOCKHASH_LIFE} blocks here; a local chain may let them live longer. Default false
 */
export function createExpiry(isLifeCertain = false): (waiting: PendingConfirmation, tip: ChainTip) => boolean {
  const bounds = boundedCache<string, number>({ max: REMEMBERED });

  return (waiting, { blockHeight }) => {
    const { blockhash } = waiting.wanted;
    if (waiting.lastValidBlockHeight === undefined || isLifeCertain) {
      const bound = bounds.get(blockhash) ?? blockHeight + BLOCKHASH_LIFE + HEALTHY_LAG;
      bounds.set(blockhash, bound);
      waiting.lastValidBlockHeight = Math.min(waiting.lastValidBlockHeight ?? bound, bound);
    }
    return blockHeight > waiting.lastValidBlockHeight;
  };
}
