import { type Keypair, PublicKey, TransactionInstruction } from '@solana/web3.js';
import type { Draft } from './draft.js';
import { memo } from './raw-instructions.js';

/** Position of the first transfer in a created transaction: compute limit and price come before it. */
export const TRANSFER = 2;

/** The draft with instructions at its end. */
export function adding(honest: Draft, ...more: TransactionInstruction[]): Draft {
  return { ...honest, instructions: [...honest.instructions, ...more] };
}

/** The draft without one of its instructions. */
export function without(honest: Draft, position: number): Draft {
  return { ...honest, instructions: honest.instructions.filter((_, index) => index !== position) };
}

/** The draft with another instruction in place of one of its own. */
export function replacing(honest: Draft, position: number, by: TransactionInstruction): Draft {
  return { ...honest, instructions: honest.instructions.map((it, index) => (index === position ? by : it)) };
}

/** The draft with other accounts or another amount in its first transfer; references stay. */
export function bent(honest: Draft, change: { accounts?: Record<number, string>; amount?: bigint }): Draft {
  const { programId, keys, data } = honest.instructions[TRANSFER]!;
  const amount = Buffer.from(data);
  if (change.amount !== undefined) amount.writeBigUInt64LE(change.amount, 1);
  const accounts = keys.map((it, index) => {
    const address = change.accounts?.[index];
    return address === undefined ? it : { ...it, pubkey: new PublicKey(address) };
  });
  return replacing(honest, TRANSFER, new TransactionInstruction({ programId, keys: accounts, data: amount }));
}

/** The draft whose first transfer does not name the reference. */
export function withoutReference(honest: Draft): Draft {
  const transfer = honest.instructions[TRANSFER]!;
  return replacing(honest, TRANSFER, new TransactionInstruction({ ...transfer, keys: transfer.keys.slice(0, 4) }));
}

/** A memo that has to be signed by a wallet, so that it stays a signer of what it no longer pays. */
export function signedBy({ publicKey }: Keypair): TransactionInstruction {
  return memo('signed', [{ address: publicKey.toBase58(), signs: true }]);
}
