import { REASONS, type Reason } from '../protocol/reasons.js';
import type { TokenTransfer } from './instructions.js';
import type { SolanaRpc } from './rpc.js';

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
  /** The transfer that pays, or the first of several; none when SOL is paid. */
  readonly transfer: TokenTransfer | undefined;
  /** Whether a key of ours pays the network fee. */
  readonly sponsored: boolean;
}

const TOO_LITTLE_SOL_LEFT =
  'The transfer would leave an account with less SOL than an account must hold; pay less, or all of it.';

const FEE_PAYER_DRY: ReadonlySet<unknown> = new Set(['AccountNotFound', 'InsufficientFundsForFee']);

/**
 * Breaks Solana's TransactionError down into what a payer can act on. Where the error does not say which token account
 * is missing, the chain is asked once.
 */
export async function explainFault(
  err: unknown,
  { transfer, sponsored }: PaymentOutline,
  rpc: SolanaRpc,
): Promise<ChainFault> {
  if (FEE_PAYER_DRY.has(err) || rentlessAccount(err) === 0) {
    if (sponsored)
      return { blame: 'operator', message: 'The fee payer of the facilitator cannot pay the network fee.' };
    return payerFault('insufficient_funds', 'The payer does not hold enough SOL for the payment and its network fee.');
  }
  if (rentlessAccount(err) !== undefined) return payerFault('insufficient_funds', TOO_LITTLE_SOL_LEFT);
  const named = BY_NAME.get(err);
  if (named !== undefined) return payerFault(named);
  const numbered = BY_NUMBER.get(customErrorOf(err));
  if (numbered !== undefined) return payerFault(numbered.reason, numbered.message);
  const missing = transfer === undefined ? undefined : await missingAccount(transfer, rpc);
  if (missing !== undefined) return payerFault(missing);
  const detail = `The transaction would fail on the chain: ${JSON.stringify(err).slice(0, 200)}.`;
  return payerFault('invalid_exact_svm_transaction_simulation_failed', detail);
}

function payerFault(reason: Reason, message: string = REASONS[reason]): ChainFault {
  return { blame: 'payer', reason, message };
}

/** The number in `{"InstructionError":[2,{"Custom":1}]}`. */
function customErrorOf(err: unknown): unknown {
  if (!isRecord(err) || !Array.isArray(err.InstructionError)) return undefined;
  const [, inner] = err.InstructionError;
  return isRecord(inner) ? inner.Custom : undefined;
}

/** The index in `{"InsufficientFundsForRent":{"account_index":0}}`. */
function rentlessAccount(err: unknown): unknown {
  if (!isRecord(err) || !isRecord(err.InsufficientFundsForRent)) return undefined;
  return err.InsufficientFundsForRent.account_index;
}

async function missingAccount(transfer: TokenTransfer, rpc: SolanaRpc): Promise<Reason | undefined> {
  const [source, destination] = await rpc.getAccounts([transfer.source, transfer.destination], 'confirmed');
  if (source === null) return 'invalid_exact_svm_payer_token_account_missing';
  if (destination === null) return 'invalid_exact_svm_recipient_token_account_missing';
  return undefined;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
