import { defined } from '../../lib/defined.js';
import { withAmountJson } from '../../protocol/money/amount-json.js';
import { plainTransfers } from '../../solana/landed/plain-transfers.js';
import { receivedIn } from '../../solana/landed/received.js';
import type { SolanaRpc } from '../../solana/rpc/rpc.js';
import { asked } from '../backend/chain-landing.js';
import type { ChainLookup } from './payment-request-types.js';

const NOTHING = { received: [], transfers: [] };

/** What the chain says of a signature: its status, how deep it lies, what it moved, and what arrived. */
export async function lookUpSignature(signature: string, rpc: SolanaRpc): Promise<ChainLookup> {
  const { slot: tip, states } = await asked(rpc.getSignatureStatuses([signature], { searchHistory: true }));
  const [state] = states;
  if (!state) return { status: 'not_found', ...NOTHING };
  const landed = state.commitment === 'processed' ? null : await asked(rpc.getTransaction(signature, 'confirmed'));
  const depth = { slot: state.slot, confirmations: Math.max(0, tip - state.slot) };
  if (state.err !== null) return { status: 'failed', ...depth, ...NOTHING };
  if (state.commitment === 'processed' || landed === null) return { status: 'pending', ...depth, ...NOTHING };
  // A node may say another thing of the transaction than of its status.
  if (landed.err !== null) return { status: 'failed', ...depth, slot: landed.slot, ...NOTHING };
  const moved = { received: receivedIn(landed), transfers: plainTransfers(landed) };
  return withAmountJson({
    status: state.commitment,
    ...depth,
    slot: landed.slot,
    ...defined({ at: landed.blockTime }),
    ...moved,
  });
}
