import { defined } from '../../lib/defined.js';
import type { Supported } from '../../protocol/supported.js';
import type { NetworkId } from '../../protocol/types.js';
import type { BlockhashCache } from '../../solana/confirmation/blockhash-cache.js';
import type { FeePayer } from '../../solana/fee-payer.js';
import type { LatestBlockhash } from '../../solana/rpc/rpc.js';
import type { HealthMonitor } from '../setup/health.js';
import type { FeeLimit } from '../sponsorship/fee-limit.js';

/** What tells whether anything can be settled. */
export interface OfferedParts {
  readonly network: NetworkId;
  /** By address, at least one; the first is offered. */
  readonly feePayers: ReadonlyMap<string, FeePayer>;
  readonly blockhashes: BlockhashCache;
  /** Knows whether settling is possible at all. */
  readonly monitor: HealthMonitor;
  /** Bounds what our fee payers spend. */
  readonly feeLimit: FeeLimit;
}

/** A facilitator that is known to be unable to settle offers nothing; what was offered before keeps its signers. */
export function createOffered({ network, feePayers, blockhashes, monitor, feeLimit }: OfferedParts): () => Supported {
  const signers = [...feePayers.keys()];
  const [feePayer] = signers;
  const nothing: Supported = { kinds: [], extensions: [], signers };
  /** What was offered last: every 402 asks, and the blockhash is another one only every few seconds. */
  let last: { readonly hint: LatestBlockhash | undefined; readonly supported: Supported } | undefined;
  return () => {
    const fault = feeLimit.fault();
    if (fault !== undefined) return { ...nothing, fault };
    if (feePayer === undefined || monitor.known()?.status === 'down') return nothing;
    const hint = blockhashes.peek();
    if (last !== undefined && last.hint === hint) return last.supported;
    const supported = {
      kinds: [{ scheme: 'exact', network, feePayer, ...defined({ hint }) }],
      extensions: [],
      signers,
    };
    last = { hint, supported };
    return supported;
  };
}
