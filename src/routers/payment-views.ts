import type {
  ChainLookup,
  CreatedPayment,
  InstructionJson,
  PaymentRequestState,
  PlainTransfer,
} from '../facilitator/payment-request-types.js';
import { formatAmount, parseDecimal } from '../protocol/money.js';
import type { Token } from '../protocol/types.js';
import { NATIVE_SOL, PROGRAMS } from '../solana/programs.js';
import type { Answer } from './answer.js';
import type { createdPaymentAnswer, paymentAnswer, verifiedAnswer } from './payment-answers.js';

/** Accounts of an instruction whose address depends on a payer that is not known yet. */
type Role = 'payer' | 'payer_token_account';

/**
 * Answer of `POST /create-payment` and `POST /payments/:id/transaction`: the contract's fields, and service.md §2's.
 * @param base - address under which wallets reach the router
 */
export function createdPaymentView(
  { request, transfer }: CreatedPayment,
  base: string,
): Answer<typeof createdPaymentAnswer> {
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
}: PaymentRequestState): Answer<typeof paymentAnswer> {
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
export function lookupView(
  found: ChainLookup,
  expected: ExpectedTransfer | undefined,
  tokens: readonly Token[],
): Answer<typeof verifiedAnswer> {
  const matching = found.transfers.filter((it) => it.amount > 0n && matches(it, expected, tokens));
  const [largest] = [...matching].sort(bySize);
  const shown = largest && transferView(largest, tokens);
  const final = found.status === 'confirmed' || found.status === 'finalized';
  return {
    verified: final && shown !== undefined,
    status: found.status,
    block_number: found.slot ?? null,
    confirmations: found.confirmations ?? null,
    amount: shown?.amount ?? null,
    token: shown?.token ?? null,
    from: shown?.from ?? null,
    to: shown?.to ?? null,
    transfers: found.transfers.map((it) => transferView(it, tokens)),
  };
}

function transferView({ asset, amount, decimals, from, to }: PlainTransfer, tokens: readonly Token[]) {
  return {
    amount: Number(formatAmount(amount, decimals)),
    token: symbolOf(asset, tokens) ?? asset,
    mint: asset === NATIVE_SOL ? null : asset,
    amount_atomic: String(amount),
    from,
    to,
  };
}

function symbolOf(asset: string, tokens: readonly Token[]): string | undefined {
  return asset === NATIVE_SOL ? 'SOL' : tokens.find(({ mint }) => mint === asset)?.symbol;
}

/** Largest first, each in whole units of its own token. */
function bySize(a: PlainTransfer, b: PlainTransfer): number {
  const difference = b.amount * 10n ** BigInt(a.decimals) - a.amount * 10n ** BigInt(b.decimals);
  return Math.sign(Number(difference));
}

function matches(
  { asset, amount, decimals, to }: PlainTransfer,
  expected: ExpectedTransfer | undefined,
  tokens: readonly Token[],
): boolean {
  const { recipient, token, amount: wanted } = expected ?? {};
  const isToken = token === undefined || token === asset || token.toUpperCase() === symbolOf(asset, tokens);
  return (recipient === undefined || recipient === to) && isToken && isAmount(wanted, amount, decimals);
}

function isAmount(wanted: string | number | undefined, amount: bigint, decimals: number): boolean {
  if (wanted === undefined) return true;
  const parsed = parseDecimal(wanted, decimals);
  return parsed.ok && parsed.value === amount;
}
