import type { BlockhashCache } from '../solana/blockhash-cache.js';
import { NATIVE_SOL } from '../solana/programs.js';
import type { SolanaRpc } from '../solana/rpc.js';
import { readTokenBalances } from '../solana/token-accounts.js';
import { instructionsJson, transferInstructions, unsignedTransaction } from '../solana/transfer-transaction.js';
import type { PaymentRequestRecord } from '../storage/ledger.js';
import { online } from './chain-landing.js';
import type { PreparedTransfer } from './payment-request-types.js';

/** Stands for the payer's wallet while it is not known (service.md §2). */
const PLACEHOLDER = NATIVE_SOL;

/** What is needed to prepare a transfer. */
export interface TransferContext {
  readonly rpc: SolanaRpc;
  readonly blockhashes: BlockhashCache;
}

/** The transfer that pays a request, for a payer that is known; it is complete but for the signatures. */
export async function prepareTransfer(
  request: PaymentRequestRecord,
  payer: string,
  feePayer: string,
  { rpc, blockhashes }: TransferContext,
): Promise<PreparedTransfer> {
  const accountsToCreate = await online(missingAccounts(request, rpc));
  const { blockhash } = await online(blockhashes.latest());
  const instructions = transferInstructions(planOf(request, accountsToCreate), payer);
  const transaction = unsignedTransaction(instructions, feePayer, blockhash);
  return { from: payer, instructions: instructionsJson(instructions), transaction, feePayer };
}

/** The transfer with the payer left open. It cannot be signed: it tells what will be asked. */
export function outlineTransfer(request: PaymentRequestRecord, feePayer: string): PreparedTransfer {
  const instructions = instructionsJson(transferInstructions(planOf(request, new Set()), PLACEHOLDER));
  return { from: PLACEHOLDER, instructions, feePayer };
}

function planOf(request: PaymentRequestRecord, accountsToCreate: ReadonlySet<string>) {
  const { token, legs, reference, memo } = request;
  const { mint, program, decimals } = token;
  return { asset: mint, tokenProgram: program, decimals, legs, reference, memo, accountsToCreate };
}

async function missingAccounts({ token, legs }: PaymentRequestRecord, rpc: SolanaRpc): Promise<ReadonlySet<string>> {
  if (token.mint === NATIVE_SOL) return new Set();
  const recipients = [...new Set(legs.map(({ recipient }) => recipient))];
  const balances = await readTokenBalances(recipients, token.mint, token.program, rpc);
  return new Set(recipients.filter((_, index) => balances[index] === undefined));
}
