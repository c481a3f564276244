import { plainTransfers } from '../solana/plain-transfers.js';
import type { SolanaRpc } from '../solana/rpc.js';
import { asked } from './chain-landing.js';
import type { ChainLookup } from './payment-request-types.js';

/** What the chain says of a signature: its status, how deep it lies, and what it moved. */
export async function lookUpSignature(signature: string, rpc: SolanaRpc): Promise<ChainLookup> {
  const { slot: tip, states } = await asked(rpc.getSignatureStatuses([signature], { searchHistory: true }));
  const [state] = states;
  if (!state) return { status: 'not_found', transfers: [] };
  const landed = state.commitment === 'processed' ? null : await asked(rpc.getTransaction(signature, 'confirmed'));
  const depth = { slot: state.slot, confirmations: Math.max(0, tip - state.slot) };
  if (state.err !== null) return { status: 'failed', ...depth, transfers: [] };
  if (state.commitment === 'processed' || landed === null) return { status: 'pending', ...depth, transfers: [] };
  return { status: state.commitment, ...depth, slot: landed.slot, transfers: plainTransfers(landed) };
}
