import type { SignatureState, SolanaRpc } from '../rpc/rpc.js';
import { MAX_SIGNATURES_PER_CALL } from '../rpc/rpc-client.js';

/** What the history of a node says of a signature. */
export interface PastSignature {
  /** Newest slot that the node had seen. */
  readonly slot: number;
  /** Null where it knows nothing of it. */
  readonly state: SignatureState | null;
}

/** Looks a signature up in the whole history. Rejects with RpcError. */
export type SignatureHistory = (signature: string) => Promise<PastSignature>;

interface Batch {
  readonly signatures: Set<string>;
  readonly found: Promise<ReadonlyMap<string, PastSignature>>;
}

/**
 * Makes what looks signatures up. One call is under way at a time, and whoever comes meanwhile shares the next: however many payments
 * are refused at once, the node is asked no more often than it answers.
 */
export function createSignatureHistory(rpc: Pick<SolanaRpc, 'getSignatureStatuses'>): SignatureHistory {
  let open: Batch | undefined;
  let isFree: Promise<unknown> = Promise.resolve();

  function openBatch(): Batch {
    const signatures = new Set<string>();
    const found = isFree.then(() => {
      if (open === batch) open = undefined;
      return lookUp(rpc, [...signatures]);
    });
    isFree = found.catch(() => undefined);
    const batch = { signatures, found };
    return batch;
  }

  return async (signature) => {
    open ??= openBatch();
    const { signatures, found } = open;
    signatures.add(signature);
    if (signatures.size >= MAX_SIGNATURES_PER_CALL) open = undefined;
    const told = (await found).get(signature);
    if (told === undefined) throw new Error(`no word of signature ${signature}`);
    return told;
  };
}

async function lookUp(
  rpc: Pick<SolanaRpc, 'getSignatureStatuses'>,
  signatures: readonly string[],
): Promise<ReadonlyMap<string, PastSignature>> {
  const { slot, states } = await rpc.getSignatureStatuses(signatures, { searchHistory: true });
  return new Map(signatures.map((signature, index) => [signature, { slot, state: states[index] ?? null }]));
}
