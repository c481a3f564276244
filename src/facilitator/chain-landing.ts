import { REASONS, type Reason } from '../protocol/reasons.js';
import type { Receipt } from '../protocol/types.js';
import type { Landing } from '../solana/confirmation.js';
import { RpcError, type SolanaRpc } from '../solana/rpc.js';
import { type ChainFault, explainFault } from '../solana/simulation.js';
import type { BackendSettlement, InspectedPayment } from './backend.js';
import { unavailable, unsent } from './outcomes.js';

/** Waits for a call to the chain; an outage becomes `payment_backend_unavailable`, whatever was wrong with which endpoint. */
export async function online<T>(call: Promise<T>): Promise<T> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof RpcError)
      throw unavailable('The Solana RPC cannot be reached at the moment; nothing was charged.', error);
    throw error;
  }
}

/** Turns what became of a transaction into what became of the payment. */
export async function settlementOf(
  landing: Landing,
  inspected: InspectedPayment,
  signature: string,
  rpc: SolanaRpc,
): Promise<BackendSettlement> {
  const { payer } = inspected;
  switch (landing.status) {
    case 'unknown':
      return { status: 'pending', signature, payer };
    case 'expired': {
      const reason = 'invalid_exact_svm_transaction_expired';
      return { status: 'failed', final: 'expired', reason, message: REASONS[reason], payer, signature };
    }
    case 'rejected': {
      const { reason, message } = payerFault(await online(explainFault(landing.err, inspected, rpc)));
      return unsent(reason, payer, message);
    }
    case 'landed': {
      if (landing.err === null) return { status: 'settled', receipt: receiptFor(inspected, signature, landing.slot) };
      const reason = 'invalid_exact_svm_transaction_failed';
      const message = `${REASONS[reason]} The chain said: ${JSON.stringify(landing.err).slice(0, 200)}.`;
      return { status: 'failed', final: 'failed', reason, message, payer, signature };
    }
  }
}

/** The payer's fault as reason and sentence; a fault of ours is thrown. */
export function payerFault(fault: ChainFault): { readonly reason: Reason; readonly message: string } {
  if (fault.blame === 'operator') throw unavailable(fault.message);
  return { reason: fault.reason, message: fault.message };
}

function receiptFor({ terms, payer }: InspectedPayment, signature: string, slot: number): Receipt {
  const { network, payTo, asset, amount } = terms;
  return { signature, network, payer, payTo, asset, amount, slot };
}
