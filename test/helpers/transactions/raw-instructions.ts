import {
  AuthorityType,
  createSetAuthorityInstruction,
  createTransferCheckedInstruction,
  createTransferCheckedWithFeeInstruction,
} from '@solana/spl-token';
import { type AccountMeta, PublicKey, TransactionInstruction } from '@solana/web3.js';
import { PROGRAMS } from '../../../src/solana/transaction/programs.js';

/** An account of an instruction: address, and whether it signs or is written to. */
export type Account = string | { readonly address: string; readonly signs?: boolean; readonly written?: boolean };

/** Any instruction at all. */
export function instruction(program: string, accounts: readonly Account[], data: ArrayLike<number>) {
  return new TransactionInstruction({
    programId: new PublicKey(program),
    keys: accounts.map(accountMeta),
    data: Buffer.from(Uint8Array.from(data)),
  });
}

/** An instruction of the compute budget program, by its bytes. */
export function computeBudget(...data: number[]): TransactionInstruction {
  return instruction(PROGRAMS.computeBudget, [], data);
}

/** SetComputeUnitLimit. */
export function unitLimit(units: number): TransactionInstruction {
  return computeBudget(2, ...littleEndian(BigInt(units), 4));
}

/** SetComputeUnitPrice, in micro-lamports. */
export function unitPrice(microLamports: bigint): TransactionInstruction {
  return computeBudget(3, ...littleEndian(microLamports, 8));
}

/** A memo of text or bytes. */
export function memo(content: string | Uint8Array, accounts: readonly Account[] = []): TransactionInstruction {
  return instruction(PROGRAMS.memo, accounts, typeof content === 'string' ? Buffer.from(content) : content);
}

/** A Lighthouse instruction by its discriminator. */
export function guard(discriminator: number, accounts: readonly Account[] = []): TransactionInstruction {
  return instruction(PROGRAMS.lighthouse, accounts, [discriminator, 0, 0]);
}

/** A TransferChecked, all of it for the one who builds it to choose. */
export interface TransferParts {
  readonly source: string;
  readonly mint: string;
  readonly destination: string;
  readonly authority: string;
  readonly amount: bigint;
  readonly decimals: number;
  readonly program: string;
}

/** TransferChecked. */
export function transferChecked(parts: TransferParts): TransactionInstruction {
  const { source, mint, destination, authority, amount, decimals, program } = parts;
  return createTransferCheckedInstruction(
    new PublicKey(source),
    new PublicKey(mint),
    new PublicKey(destination),
    new PublicKey(authority),
    amount,
    decimals,
    [],
    new PublicKey(program),
  );
}

/** TransferCheckedWithFee of Token-2022: the sender names the fee. */
export function transferCheckedWithFee(parts: TransferParts, fee: bigint): TransactionInstruction {
  const { source, mint, destination, authority, amount, decimals } = parts;
  return createTransferCheckedWithFeeInstruction(
    new PublicKey(source),
    new PublicKey(mint),
    new PublicKey(destination),
    new PublicKey(authority),
    amount,
    decimals,
    fee,
  );
}

/** SetAuthority: a token account gets another owner. `by`: its owner; default whoever gets it. */
export function handOver(
  account: string,
  owner: string,
  { by = owner, program = PROGRAMS.token as string } = {},
): TransactionInstruction {
  return createSetAuthorityInstruction(
    new PublicKey(account),
    new PublicKey(by),
    AuthorityType.AccountOwner,
    new PublicKey(owner),
    [],
    new PublicKey(program),
  );
}

/** An instruction that the sandbox's guard program makes for somebody. No account of it is named twice. */
export function madeInside({ programId, keys, data }: TransactionInstruction): TransactionInstruction {
  const accounts = keys.map(({ pubkey, isSigner, isWritable }) => {
    return { address: pubkey.toBase58(), signs: isSigner, written: isWritable };
  });
  return instruction(PROGRAMS.lighthouse, [programId.toBase58(), ...accounts], [16, ...data]);
}

function accountMeta(account: Account): AccountMeta {
  const { address, signs = false, written = false } = typeof account === 'string' ? { address: account } : account;
  return { pubkey: new PublicKey(address), isSigner: signs, isWritable: written };
}

function littleEndian(value: bigint, length: number): number[] {
  return Array.from({ length }, (_, index) => Number((value >> BigInt(8 * index)) & 0xffn));
}
