import { ComputeBudgetProgram, PublicKey, TransactionMessage, VersionedTransaction } from '@solana/web3.js';
import { PROGRAMS } from '../transaction/programs.js';

const UNITS = 1_000;

/**
 * A transaction that does nothing, to see how a node simulates. Its blockhash is none: the node must be asked to replace it.
 * @param feePayer - a wallet that could pay for it, base58
 */
export function probeTransaction(feePayer: string): Uint8Array {
  const message = new TransactionMessage({
    payerKey: new PublicKey(feePayer),
    recentBlockhash: PROGRAMS.system,
    instructions: [ComputeBudgetProgram.setComputeUnitLimit({ units: UNITS })],
  });
  return new VersionedTransaction(message.compileToV0Message()).serialize();
}
