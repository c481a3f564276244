import { createAssociatedTokenAccountIdempotentInstruction, createTransferCheckedInstruction } from '@solana/spl-token';
import {
  ComputeBudgetProgram,
  PublicKey,
  SystemProgram,
  type TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js';
import type { Leg } from '../../protocol/money/split.js';
import { associatedTokenAddress } from '../transaction/associated-token.js';
import { NATIVE_SOL } from '../transaction/programs.js';
import { MAX_PACKET_BYTES } from '../transaction/transaction.js';
import { memoInstruction } from './memo.js';

/** What a transfer moves, and to whom. */
export interface TransferPlan {
  /** Mint, base58; NATIVE_SOL for SOL. */
  readonly asset: string;
  readonly tokenProgram: string;
  readonly decimals: number;
  readonly legs: readonly Leg[];
  /** Public key that is put into the first transfer, read-only (Solana Pay), if any. */
  readonly reference: string | undefined;
  readonly memo: string | undefined;
  /** Recipients whose token account does not exist yet; it is created at the payer's cost. */
  readonly accountsToCreate: ReadonlySet<string>;
}

/** An instruction as JSON; `data` in base64. */
export interface InstructionJson {
  readonly programId: string;
  readonly keys: readonly { readonly pubkey: string; readonly isSigner: boolean; readonly isWritable: boolean }[];
  readonly data: string;
}

// Generous: at this price a million units cost one lamport.
const BASE_UNITS = 25_000;
const UNITS_PER_LEG = 20_000;
const UNITS_PER_ACCOUNT = 60_000;
const UNIT_PRICE_MICRO_LAMPORTS = 1;

/** The instructions that carry out a plan for a payer, compute budget first, memo last. */
export function transferInstructions(plan: TransferPlan, payer: string): TransactionInstruction[] {
  const units = BASE_UNITS + plan.legs.length * UNITS_PER_LEG + plan.accountsToCreate.size * UNITS_PER_ACCOUNT;
  return [
    ComputeBudgetProgram.setComputeUnitLimit({ units }),
    ComputeBudgetProgram.setComputeUnitPrice({ microLamports: UNIT_PRICE_MICRO_LAMPORTS }),
    ...[...plan.accountsToCreate].map((recipient) => accountCreation(plan, payer, recipient)),
    ...plan.legs.map((leg, index) =>
      withReference(legTransfer(plan, payer, leg), index === 0 ? plan.reference : undefined),
    ),
    ...(plan.memo === undefined ? [] : [memoInstruction(plan.memo)]),
  ];
}

/**
 * The unsigned transaction of some instructions: version 0, all signature slots empty. Undefined when they do not fit into
 * one.
 */
export function unsignedTransaction(
  instructions: readonly TransactionInstruction[],
  feePayer: string,
  blockhash: string,
): Uint8Array | undefined {
  const message = new TransactionMessage({
    payerKey: new PublicKey(feePayer),
    recentBlockhash: blockhash,
    instructions: [...instructions],
  });
  try {
    const bytes = new VersionedTransaction(message.compileToV0Message()).serialize();
    return bytes.length > MAX_PACKET_BYTES ? undefined : bytes;
  } catch (error) {
    // web3.js writes messages into a buffer of this size.
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/** The unsigned transaction that makes a wallet's token account where there is none, at the cost of its one signer. */
export function accountCreationTransaction(
  { owner, mint, tokenProgram }: { readonly owner: string; readonly mint: string; readonly tokenProgram: string },
  payer: string,
  blockhash: string,
): Uint8Array {
  const bytes = unsignedTransaction([accountCreation({ asset: mint, tokenProgram }, payer, owner)], payer, blockhash);
  if (bytes === undefined) throw new RangeError('the creation of a token account does not fit into one transaction');
  return bytes;
}

/** Instructions as JSON. */
export function instructionsJson(instructions: readonly TransactionInstruction[]): readonly InstructionJson[] {
  return instructions.map(({ programId, keys, data }) => ({
    programId: programId.toBase58(),
    keys: keys.map(({ pubkey, isSigner, isWritable }) => ({ pubkey: pubkey.toBase58(), isSigner, isWritable })),
    data: data.toString('base64'),
  }));
}

function legTransfer(plan: TransferPlan, payer: string, { recipient, amount }: Leg): TransactionInstruction {
  const { asset, tokenProgram, decimals } = plan;
  if (asset === NATIVE_SOL) {
    return SystemProgram.transfer({
      fromPubkey: new PublicKey(payer),
      toPubkey: new PublicKey(recipient),
      lamports: amount,
    });
  }
  return createTransferCheckedInstruction(
    new PublicKey(associatedTokenAddress(payer, asset, tokenProgram)),
    new PublicKey(asset),
    new PublicKey(associatedTokenAddress(recipient, asset, tokenProgram)),
    new PublicKey(payer),
    amount,
    decimals,
    [],
    new PublicKey(tokenProgram),
  );
}

function accountCreation(
  { asset, tokenProgram }: Pick<TransferPlan, 'asset' | 'tokenProgram'>,
  payer: string,
  recipient: string,
): TransactionInstruction {
  return createAssociatedTokenAccountIdempotentInstruction(
    new PublicKey(payer),
    new PublicKey(associatedTokenAddress(recipient, asset, tokenProgram)),
    new PublicKey(recipient),
    new PublicKey(asset),
    new PublicKey(tokenProgram),
  );
}

function withReference(transfer: TransactionInstruction, reference: string | undefined): TransactionInstruction {
  if (reference !== undefined)
    transfer.keys.push({ pubkey: new PublicKey(reference), isSigner: false, isWritable: false });
  return transfer;
}
