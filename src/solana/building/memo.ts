import { PublicKey, TransactionInstruction } from '@solana/web3.js';
import { PROGRAMS } from '../transaction/programs.js';

/** An instruction that notes a text in the transaction. */
export function memoInstruction(text: string): TransactionInstruction {
  const data = Buffer.from(text, 'utf8');
  return new TransactionInstruction({ programId: new PublicKey(PROGRAMS.memo), keys: [], data });
}
