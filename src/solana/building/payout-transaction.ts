import { inspect } from 'node:util';
import { addressOf } from '../../protocol/address.js';
import type { Leg } from '../../protocol/money/split.js';
import { type KeypairInput, readKeypair } from '../keypair.js';
import { type DecodedTransaction, decodeTransaction } from '../transaction/transaction.js';
import { transferBuilder } from './transfer-builder.js';

/** A payout as it goes into a transaction. */
export interface PayoutPlan {
  /** Id of the payout, noted in the transaction as memo. */
  readonly id: string;
  /** Mint, base58. */
  readonly mint: string;
  readonly tokenProgram: string;
  readonly decimals: number;
  /** At most 8; each recipient has a token account. */
  readonly legs: readonly Leg[];
  /** Pays the network fee, base58. */
  readonly feePayer: string;
  /** Recent blockhash, base58. */
  readonly blockhash: string;
}

/** The key of the wallet that holds what is owed to the recipients of splits. It signs payouts, and can do nothing else. */
export interface SplitWallet {
  /** Base58. */
  readonly address: string;
  /** Builds the transaction of a payout and signs it; the fee payer's slot is empty. */
  sign(plan: PayoutPlan): Promise<DecodedTransaction>;
}

/** Where the transfer of the first leg stands: compute limit and price come before it. */
const FIRST_LEG = 2;
const SIGNATURE_BYTES = 64;

/** Makes a split wallet. Throws `bad_option` when the text or bytes are no key pair; the message never shows them. */
export function createSplitWallet(input: KeypairInput, where: string, option: string): SplitWallet {
  const signer = readKeypair(input, where, option);
  const address = addressOf(signer.publicKey);
  const wallet: SplitWallet = {
    address,
    async sign(plan) {
      const unsigned = await payoutTransaction(plan, address);
      const bytes = Uint8Array.from(unsigned.bytes);
      const slot = unsigned.accounts.indexOf(address);
      bytes.set(signer.sign(unsigned.message), unsigned.signaturesOffset + slot * SIGNATURE_BYTES);
      return decoded(bytes);
    },
  };
  return Object.defineProperty(wallet, inspect.custom, { value: () => `SplitWallet(${address})` });
}

/** The leg whose transfer an instruction of a payout's transaction is; undefined for the other instructions. */
export function legAt({ legs }: Pick<PayoutPlan, 'legs'>, instruction: number): Leg | undefined {
  return legs[instruction - FIRST_LEG];
}

/** The unsigned transaction of a payout: compute budget, a TransferChecked for each leg, the id as memo. */
export async function payoutTransaction(
  { id, mint, feePayer, blockhash, ...plan }: PayoutPlan,
  wallet: string,
): Promise<DecodedTransaction> {
  const { transferInstructions, unsignedTransaction } = await transferBuilder();
  const transfer = { ...plan, asset: mint, memo: id, reference: undefined, accountsToCreate: new Set<string>() };
  const bytes = unsignedTransaction(transferInstructions(transfer, wallet), feePayer, blockhash);
  if (bytes === undefined) throw new RangeError(`payout ${id} does not fit into one transaction`);
  return decoded(bytes);
}

function decoded(bytes: Uint8Array): DecodedTransaction {
  const result = decodeTransaction(bytes);
  if (!result.ok) throw new Error(result.detail);
  return result.transaction;
}
