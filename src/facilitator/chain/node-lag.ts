import { readChainTime } from '../../solana/accounts/chain-time.js';
import type { SolanaRpc } from '../../solana/rpc/rpc.js';

/**
 * How far the node that is asked is behind this machine's clock, in milliseconds; 0 where that is no more than clocks may differ, or not
 * told. Rejects with RpcError.
 */
export type NodeLag = () => Promise<number>;

/** The chain's clock is a median of its validators', a second or two away from anybody's that is kept right. */
const MAX_LAG_MS = 15_000;
/** However many payments name blockhashes that nobody knows, the chain's clock is asked for once in a while. */
const FRESH_MS = 2_000;

/** Makes what finds out, by the clock that the chain itself keeps. */
export function createNodeLag(rpc: Pick<SolanaRpc, 'getAccounts'>): NodeLag {
  let asked: { readonly at: number; readonly lag: Promise<number> } | undefined;

  async function ask(): Promise<number> {
    const time = await readChainTime(rpc);
    const lag = time === undefined ? 0 : Date.now() - time;
    return lag > MAX_LAG_MS ? lag : 0;
  }

  return async () => {
    if (asked === undefined || performance.now() - asked.at >= FRESH_MS) asked = { at: performance.now(), lag: ask() };
    return asked.lag;
  };
}
