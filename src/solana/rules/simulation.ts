import { REASONS, type Reason } from '../../protocol/reasons.js';
import type { SolanaRpc } from '../rpc/rpc.js';
import type { PlainInstruction, TokenTransfer } from '../transaction/instructions.js';
import type { DecodedTransaction } from '../transaction/transaction.js';

/** Why a transaction would fail: a reason for the payer, or a sentence for the operator when the fault is on our side. */
export type ChainFault =
  | { readonly blame: 'payer'; readonly reason: Reason; readonly message: string }
  | { readonly blame: 'operator'; readonly message: string };

/** Errors of the transaction as a whole whose name says enough. */
const BY_NAME: ReadonlyMap<unknown, Reason> = new Map<unknown, Reason>([
  ['BlockhashNotFound', 'invalid_exact_svm_blockhash_expired'],
  ['AlreadyProcessed', 'duplicate_settlement'],
]);

/** Errors of the token programs whose number says enough. */
const BY_NUMBER: ReadonlyMap<unknown, { readonly reason: Reason; readonly message?: string }> = new Map([
  [1, { reason: 'insufficient_funds' as const }],
  [
    17,
    {
      reason: 'invalid_exact_svm_transaction_simulation_failed' as const,
      message: 'The token account of the payer or of the recipient is frozen.',
    },
  ],
]);

/** What a fault is explained with. */
export interface PaymentOutline {
  readonly transaction: DecodedTransaction;
  /** The transfer that pays, or the first of several; none when SOL is paid. */
  readonly transfer: TokenTransfer | undefined;
  /** Whether a key of ours pays the network fee. */
  readonly sponsored: boolean;
}

const TOO_LITTLE_SOL_LEFT =
  'The transfer would leave an account with less SOL than an account must hold; pay less, or all of it.';

const TOO_LITTLE_SOL_SENT =
  'A recipient holds no SOL yet, and the amount is less than an account must hold (about 0.0009 SOL); it needs a larger first payment.';

const NOTHING_FOR_ACCOUNT =
  'The recipient has no token account for this token yet, and the payer does not hold the SOL that its creation costs (about 0.0021 SOL). Top up SOL, or let the recipient create the account first.';

/** Of Token-2022: an account can refuse transfers that no memo stands directly before. */
const NO_MEMO = 36;
const MEMO_FIRST =
  "The recipient's token account takes only transfers that a memo stands directly before; pay with one there, or tell the seller.";

const FEE_PAYER_DRY: ReadonlySet<unknown> = new Set(['AccountNotFound', 'InsufficientFundsForFee']);

/**
 * Breaks Solana's TransactionError down into what a payer can act on. Where the error does not say which token account
 * is missing, the chain is asked once.
 */
export async function explainFault(
  err: unknown,
  { transaction, transfer, sponsored }: PaymentOutline,
  rpc: SolanaRpc,
): Promise<ChainFault> {
  if (FEE_PAYER_DRY.has(err) || rentlessAccount(err) === 0) {
    if (sponsored)
      return { blame: 'operator', message: 'The fee payer of the facilitator cannot pay the network fee.' };
    return payerFault('insufficient_funds', 'The payer does not hold enough SOL for the payment and its network fee.');
  }
  const rentless = rentlessAccount(err);
  if (typeof rentless === 'number' && rentless >= transaction.requiredSignatures) {
    return payerFault('invalid_exact_svm_transaction_simulation_failed', TOO_LITTLE_SOL_SENT);
  }
  if (rentless !== undefined) return payerFault('insufficient_funds', TOO_LITTLE_SOL_LEFT);
  const named = BY_NAME.get(err);
  if (named !== undefined) return payerFault(named);
  const { position, number } = instructionErrorOf(err);
  const failed = failedInstruction(position, transaction);
  const numbered = BY_NUMBER.get(number);
  if (numbered?.reason === 'insufficient_funds' && failed?.kind === 'create-token-account') {
    return payerFault('invalid_exact_svm_recipient_token_account_missing', NOTHING_FOR_ACCOUNT);
  }
  if (number === NO_MEMO && failed?.kind === 'token-transfer') {
    return payerFault('invalid_exact_svm_transaction_simulation_failed', MEMO_FIRST);
  }
  if (numbered !== undefined) return payerFault(numbered.reason, numbered.message);
  const suspect = failed?.kind === 'token-transfer' ? failed : transfer;
  const missing = suspect === undefined ? undefined : await missingAccount(suspect, rpc);
  if (missing !== undefined) return payerFault(missing);
  const detail = `The transaction would fail on the chain: ${JSON.stringify(err).slice(0, 200)}.`;
  return payerFault('invalid_exact_svm_transaction_simulation_failed', detail);
}

function payerFault(reason: Reason, message: string = REASONS[reason]): ChainFault {
  return { blame: 'payer', reason, message };
}

/** The position and, where there is one, the number in `{"InstructionError":[2,{"Custom":1}]}`. */
function instructionErrorOf(err: unknown): { readonly position?: unknown; readonly number?: unknown } {
  if (!isRecord(err) || !Array.isArray(err.InstructionError)) return {};
  const [position, inner] = err.InstructionError;
  return { position, number: isRecord(inner) ? inner.Custom : undefined };
}

function failedInstruction(position: unknown, { plain }: DecodedTransaction): PlainInstruction | undefined {
  return typeof position === 'number' ? plain[position] : undefined;
}

/** The index in `{"InsufficientFundsForRent":{"account_index":0}}`. */
function rentlessAccount(err: unknown): unknown {
  if (!isRecord(err) || !isRecord(err.InsufficientFundsForRent)) return undefined;
  return err.InsufficientFundsForRent.account_index;
}

async function missingAccount(transfer: TokenTransfer, rpc: SolanaRpc): Promise<Reason | undefined> {
  const [source, destination] = await rpc.getAccounts([transfer.source, transfer.destination], 'confirmed', 0);
  if (source === null) return 'invalid_exact_svm_payer_token_account_missing';
  if (destination === null) return 'invalid_exact_svm_recipient_token_account_missing';
  return undefined;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
