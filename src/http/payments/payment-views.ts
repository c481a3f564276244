import type {
  CreatedPayment,
  InstructionJson,
  PaymentRequestState,
} from '../../facilitator/requests/payment-request-types.js';
import type { Token } from '../../protocol/types.js';
import { NATIVE_SOL, PROGRAMS } from '../../solana/transaction/programs.js';
import type { Answer } from '../framework/response.js';
import type { createdPaymentResponse, paymentResponse } from './payment-responses.js';

/** Accounts of an instruction whose address depends on a payer that is not known yet. */
type Role = 'payer' | 'payer_token_account';

/**
 * Answer of `POST /create-payment` and `POST /payments/:id/transaction`: the contract's fields, and service.md §2's.
 * @param base - address under which wallets reach the router
 */
export function createdPaymentView(
  { request, transfer }: CreatedPayment,
  base: string,
): Answer<typeof createdPaymentResponse> {
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
    solana_pay_url: `solana:${base}/payments/${id}/transaction`,
  };
}

/** The accounts of an instruction that depend on the payer, by position, for each program that has any. */
function rolesOf({ mint, program }: Token): Readonly<Record<string, readonly (Role | undefined)[]>> {
  const transfer: readonly (Role | undefined)[] = ['payer_token_account', undefined, undefined, 'payer'];
  return { [program]: mint === NATIVE_SOL ? ['payer'] : transfer, [PROGRAMS.associatedToken]: ['payer'] };
}

/** Marks the placeholders. */
function withRoles(instruction: InstructionJson, token: Token) {
  const roles = rolesOf(token)[instruction.programId];
  if (roles === undefined) return instruction;
  const keys = instruction.keys.map((key, index) => {
    const role = roles[index];
    return role === undefined ? key : { ...key, pubkey: NATIVE_SOL, role };
  });
  return { ...instruction, keys };
}

/** Answer of `GET /payments/:id`. */
export function paymentStateView({
  request,
  status,
  receipt,
  signature,
  reason,
}: PaymentRequestState): Answer<typeof paymentResponse> {
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
