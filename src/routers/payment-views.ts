import type {
  ChainLookup,
  CreatedPayment,
  InstructionJson,
  PaymentRequestState,
  PlainTransfer,
} from '../facilitator/payment-request-types.js';
import { formatAmount } from '../protocol/money.js';
import type { Token } from '../protocol/types.js';
import { NATIVE_SOL } from '../solana/programs.js';

/** Accounts of an instruction whose address depends on a payer that is not known yet. */
type Role = 'payer' | 'payer_token_account';

/** Answer of `POST /create-payment` and `POST /payments/:id/transaction`: the contract's fields, and service.md §2's. */
export function createdPaymentView({ request, transfer }: CreatedPayment, origin: string) {
  const { id, network, token, expiresAt, reference, payTo, amount } = request;
  const { from, instructions, transaction, feePayer } = transfer;
  const known = transaction !== undefined;
  return {
    payment_id: id,
    transaction: {
      from,
      to: payTo,
      amount: Number(amount),
      instructions: known ? instructions : instructions.map((it) => withRoles(it, token)),
      ...(known ? { serialized: Buffer.from(transaction).toString('base64') } : {}),
    },
    expires_at: Math.floor(expiresAt / 1000),
    network,
    reference,
    fee_payer: feePayer,
    token: token.symbol,
    decimals: token.decimals,
    solana_pay_url: `solana:${origin}/payments/${id}/transaction`,
  };
}

/**
 * Marks the placeholders. In a transfer of tokens the first account is the payer's token account and the fourth the payer;
 * in a transfer of SOL the first is the payer.
 */
function withRoles(instruction: InstructionJson, { mint, program }: Token) {
  const isTransfer = instruction.programId === program;
  if (!isTransfer) return instruction;
  const roles: readonly (Role | undefined)[] =
    mint === NATIVE_SOL ? ['payer'] : ['payer_token_account', undefined, undefined, 'payer'];
  const keys = instruction.keys.map((key, index) => {
    const role = roles[index];
    return role === undefined ? key : { ...key, pubkey: NATIVE_SOL, role };
  });
  return { ...instruction, keys };
}

/** Answer of `GET /payments/:id`. */
export function paymentStateView({ request, status, receipt, signature, reason }: PaymentRequestState) {
  const { id, network, token, amount, payTo, legs, reference, memo, metadata, createdAt, expiresAt } = request;
  return {
    payment_id: id,
    status,
    network,
    token: token.symbol,
    decimals: token.decimals,
    amount: Number(amount),
    recipient: payTo,
    split: legs.map((leg) => ({ recipient: leg.recipient, amount: Number(leg.amount) })),
    reference,
    memo: memo ?? null,
    metadata: metadata ?? null,
    created_at: Math.floor(createdAt / 1000),
    expires_at: Math.floor(expiresAt / 1000),
    tx_signature: signature ?? null,
    reason: reason ?? null,
    payer: receipt?.payer ?? request.payer ?? null,
    block_number: receipt?.slot ?? null,
  };
}

/** What the caller of `POST /verify` expects to have been paid. */
export interface ExpectedTransfer {
  readonly recipient?: string | undefined;
  readonly token?: string | undefined;
  readonly amount?: number | string | undefined;
}

/** Answer of `POST /verify` in the contract's shape; what is not known is null. */
export function lookupView(found: ChainLookup, expected: ExpectedTransfer | undefined, tokens: readonly Token[]) {
  const transfers = found.transfers.map((it) => transferView(it, tokens));
  const matching = transfers.filter((it) => matches(it, expected));
  const largest = [...matching].sort((a, b) => b.amount - a.amount)[0];
  const final = found.status === 'confirmed' || found.status === 'finalized';
  return {
    verified: final && largest !== undefined,
    status: found.status,
    block_number: found.slot ?? null,
    confirmations: found.confirmations ?? null,
    amount: largest?.amount ?? null,
    token: largest?.token ?? null,
    from: largest?.from ?? null,
    to: largest?.to ?? null,
    transfers,
  };
}

function transferView({ asset, amount, decimals, from, to }: PlainTransfer, tokens: readonly Token[]) {
  const symbol = asset === NATIVE_SOL ? 'SOL' : tokens.find(({ mint }) => mint === asset)?.symbol;
  return {
    amount: Number(formatAmount(amount, decimals)),
    token: symbol ?? asset,
    mint: asset === NATIVE_SOL ? null : asset,
    amount_atomic: String(amount),
    from,
    to,
  };
}

function matches(transfer: ReturnType<typeof transferView>, expected: ExpectedTransfer | undefined): boolean {
  if (expected === undefined) return true;
  const { recipient, token, amount } = expected;
  const isToken =
    token === undefined || token === transfer.mint || token.toUpperCase() === transfer.token.toUpperCase();
  const isAmount = amount === undefined || Number(amount) === transfer.amount;
  return (recipient === undefined || recipient === transfer.to) && isToken && isAmount;
}
