import { TollhouseError } from '../../errors/errors.js';
import { transferBuilder } from '../../solana/building/transfer-builder.js';
import type { BlockhashCache } from '../../solana/confirmation/blockhash-cache.js';
import type { SolanaRpc } from '../../solana/rpc/rpc.js';
import { NATIVE_SOL } from '../../solana/transaction/programs.js';
import type { PaymentRequestRecord } from '../../storage/ledger/payment-request.js';
import { online } from '../backend/chain-landing.js';
import type { PreparedTransfer } from './payment-request-types.js';

/** Stands for the payer's wallet while it is not known. */
const PLACEHOLDER = NATIVE_SOL;

/** What is needed to prepare a transfer. */
export interface TransferContext {
  readonly rpc: SolanaRpc;
  readonly blockhashes: BlockhashCache;
}

/**
 * The transfer that pays a request, for a payer that is known; it is complete but for the signatures. Rejects with
 * `invalid_split` when it does not fit into one transaction.
 * @param accountsToCreate - recipients whose token account does not exist yet
 */
export async function prepareTransfer(
  request: PaymentRequestRecord,
  { payer, feePayer }: { readonly payer: string; readonly feePayer: string },
  accountsToCreate: ReadonlySet<string>,
  { blockhashes }: TransferContext,
): Promise<PreparedTransfer> {
  const { transferInstructions, unsignedTransaction, instructionsJson } = await transferBuilder();
  const { blockhash } = await online(blockhashes.latest());
  const instructions = transferInstructions(planOf(request, accountsToCreate), payer);
  const transaction = unsignedTransaction(instructions, feePayer, blockhash);
  if (transaction === undefined) throw tooLarge(accountsToCreate.size);
  return { from: payer, instructions: instructionsJson(instructions), transaction, feePayer };
}

/** The same while the payer is not known, with a placeholder in its place. */
export async function outlineTransfer(
  request: PaymentRequestRecord,
  feePayer: string,
  accountsToCreate: ReadonlySet<string>,
): Promise<PreparedTransfer> {
  const { transferInstructions, instructionsJson } = await transferBuilder();
  const instructions = instructionsJson(transferInstructions(planOf(request, accountsToCreate), PLACEHOLDER));
  return { from: PLACEHOLDER, instructions, feePayer };
}

function planOf(request: PaymentRequestRecord, accountsToCreate: ReadonlySet<string>) {
  const { token, legs, reference, memo } = request;
  const { mint, program, decimals } = token;
  return { asset: mint, tokenProgram: program, decimals, legs, reference, memo, accountsToCreate };
}

function tooLarge(missing: number): TollhouseError {
  const detail = `split does not fit into one transaction: name fewer recipients, or a shorter memo${missing === 0 ? '' : `, or let the ${missing} of them without a token account create it first`}`;
  return new TollhouseError('invalid_split', detail, { param: 'split' });
}
