import { randomBytes } from 'node:crypto';
import { createTransferCheckedInstruction } from '@solana/spl-token';
import { ComputeBudgetProgram, PublicKey, TransactionMessage, VersionedTransaction } from '@solana/web3.js';
import { addressOf } from '../../protocol/address.js';
import { type KeypairInput, readKeypair } from '../keypair.js';
import { associatedTokenAddress } from '../transaction/associated-token.js';
import { memoInstruction } from './memo.js';

/** A transfer of the scheme `exact`, as the payer builds it. */
export interface PaymentTransactionInput {
  /** Key of the wallet that pays. */
  readonly payer: KeypairInput;
  /** Key of the facilitator that pays the network fee, base58. */
  readonly feePayer: string;
  /** Mint, base58. */
  readonly asset: string;
  /** Token program that owns the mint, base58. */
  readonly tokenProgram: string;
  readonly decimals: number;
  /** Atomic units. */
  readonly amount: bigint;
  /** Wallet that receives, base58. */
  readonly payTo: string;
  /** Recent blockhash, base58. */
  readonly blockhash: string;
  /** Default: 32 random hexadecimal characters, which keep equal payments apart. */
  readonly memo?: string;
}

const COMPUTE_UNIT_LIMIT = 20_000;
const COMPUTE_UNIT_PRICE = 1;
const NONCE_BYTES = 16;

/**
 * Builds and signs the transaction that the official client would build (solana/README.md, "The rules of a payment"): compute budget, TransferChecked
 * between associated token accounts, memo. The fee payer's slot stays empty.
 */
export function buildPaymentTransaction(input: PaymentTransactionInput): Uint8Array {
  const signer = readKeypair(input.payer, 'buildPaymentTransaction');
  const payer = addressOf(signer.publicKey);
  const { asset, tokenProgram } = input;
  const message = new TransactionMessage({
    payerKey: new PublicKey(input.feePayer),
    recentBlockhash: input.blockhash,
    instructions: [
      ComputeBudgetProgram.setComputeUnitLimit({ units: COMPUTE_UNIT_LIMIT }),
      ComputeBudgetProgram.setComputeUnitPrice({ microLamports: COMPUTE_UNIT_PRICE }),
      createTransferCheckedInstruction(
        new PublicKey(associatedTokenAddress(payer, asset, tokenProgram)),
        new PublicKey(asset),
        new PublicKey(associatedTokenAddress(input.payTo, asset, tokenProgram)),
        new PublicKey(payer),
        input.amount,
        input.decimals,
        [],
        new PublicKey(tokenProgram),
      ),
      memoInstruction(input.memo ?? randomBytes(NONCE_BYTES).toString('hex')),
    ],
  }).compileToV0Message();
  const transaction = new VersionedTransaction(message);
  transaction.addSignature(new PublicKey(payer), signer.sign(message.serialize()));
  return transaction.serialize();
}
