import type {
  ChainLookup,
  CreatedPayment,
  InstructionJson,
  PaymentRequestState,
  RequestSettlement,
  UnmatchedPayment,
} from '../../facilitator/requests/payment-request-types.js';
import type { Facilitator } from '../../facilitator/types.js';
import { formatAmount, parseDecimal } from '../../protocol/money/money.js';
import type { NetworkId, Token } from '../../protocol/types.js';
import { NATIVE_SOL, PROGRAMS } from '../../solana/transaction/programs.js';
import type { ResponseBody } from '../framework/fields.js';
import { fillPath } from '../framework/path.js';
import {
  type createdPaymentResponse,
  type ExpectedTransfer,
  type networksResponse,
  PAYMENTS_PATHS,
  type paymentResponse,
  type settledResponse,
  type verifiedResponse,
} from './schemas.js';

/** Accounts of an instruction whose address depends on a payer that is not known yet. */
type Role = 'payer' | 'payer_token_account';

/** Money that came for a payment and does not pay it. */
function unmatchedView(unmatched: readonly UnmatchedPayment[], tokens: readonly Token[]) {
  return unmatched.map(({ signature, reason, received }) => ({
    tx_signature: signature,
    reason,
    received: received.map((it) => receivedView(it, tokens)),
  }));
}

/**
 * Response of `POST /create-payment` and `POST /payments/:id/transaction`: the contract's fields, and what pays by a wallet.
 * @param base - address under which wallets reach the router
 * @param tokens - whose symbols are known
 */
export function createdPaymentView(
  { request, transfer, unmatched = [] }: CreatedPayment,
  base: string,
  tokens: readonly Token[],
): ResponseBody<typeof createdPaymentResponse> {
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
    solana_pay_url: `solana:${base}${fillPath(PAYMENTS_PATHS.transaction, { id })}`,
    ...(unmatched.length === 0 ? {} : { unmatched: unmatchedView(unmatched, tokens) }),
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

/**
 * Response of `GET /payments/:id`.
 * @param tokens - whose symbols are known
 */
export function paymentStateView(
  { request, status, receipt, signature, reason, surplus = 0n, unmatched = [] }: PaymentRequestState,
  tokens: readonly Token[],
): ResponseBody<typeof paymentResponse> {
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
    surplus: String(surplus),
    unmatched: unmatchedView(unmatched, tokens),
  };
}

/** Response of `POST /settle` in the contract's shape, for a payment that was settled. */
export function settledView(
  { receipt, facts }: Extract<RequestSettlement, { readonly status: 'settled' }>,
  explorerUrl: string,
): ResponseBody<typeof settledResponse> {
  return {
    success: true,
    tx_signature: receipt.signature,
    block_number: facts.slot,
    gas_used: facts.computeUnits,
    explorer_url: `${explorerUrl}/tx/${receipt.signature}`,
    fee_lamports: Number(facts.feeLamports),
    status: 'confirmed',
  };
}

type Received = ChainLookup['received'][number];
type Amount = Pick<Received, 'asset' | 'amount' | 'decimals'>;

/**
 * Response of `POST /verify` in the contract's shape; what is not known is null. Verified is what arrived for a wallet and stayed
 * with it, by what it holds more after the transaction; instructions that say so are no proof.
 */
export function lookupView(
  found: ChainLookup,
  expected: ExpectedTransfer | undefined,
  tokens: readonly Token[],
): Omit<ResponseBody<typeof verifiedResponse>, 'network'> {
  const { status, received, transfers } = found;
  const [shown] = received.filter((it) => isExpected(it, found, expected, tokens)).sort(paidFirst);
  const final = status === 'confirmed' || status === 'finalized';
  const amount = shown && amountView(shown, tokens);
  return {
    verified: final && shown !== undefined,
    status,
    block_number: found.slot ?? null,
    confirmations: found.confirmations ?? null,
    amount: amount?.amount ?? null,
    token: amount?.token ?? null,
    from: shown?.from ?? null,
    to: shown?.to ?? null,
    received: received.map((it) => receivedView(it, tokens)),
    transfers: transfers.map((it) => ({ ...amountView(it, tokens), from: it.from, to: it.to })),
  };
}

function receivedView(received: Received, tokens: readonly Token[]) {
  return { ...amountView(received, tokens), to: received.to };
}

function amountView({ asset, amount, decimals }: Amount, tokens: readonly Token[]) {
  return {
    amount: Number(formatAmount(amount, decimals)),
    token: symbolOf(asset, tokens) ?? asset,
    mint: asset === NATIVE_SOL ? null : asset,
    amount_atomic: String(amount),
  };
}

/** Symbol of an asset; undefined for one that is not known. */
export function symbolOf(asset: string, tokens: readonly Token[]): string | undefined {
  return asset === NATIVE_SOL ? 'SOL' : tokens.find(({ mint }) => mint === asset)?.symbol;
}

/** What somebody paid before what came otherwise, then the largest first, each in whole units of its own token. */
function paidFirst(a: Received, b: Received): number {
  const paid = Number(b.from !== undefined) - Number(a.from !== undefined);
  const difference = b.amount * 10n ** BigInt(a.decimals) - a.amount * 10n ** BigInt(b.decimals);
  return paid === 0 ? Math.sign(Number(difference)) : paid;
}

function isExpected(
  received: Received,
  { transfers }: ChainLookup,
  { recipient, token, amount }: ExpectedTransfer = {},
  tokens: readonly Token[],
): boolean {
  const { asset, to } = received;
  const isToken = token === undefined || token === asset || token.toUpperCase() === symbolOf(asset, tokens);
  if ((recipient !== undefined && recipient !== to) || !isToken) return false;
  const same = transfers.filter((it) => it.asset === asset && it.to === to);
  return isAmount(amount, received, same);
}

/** An amount names all that arrived, or one transfer of it: then at least so much must have stayed. */
function isAmount(
  wanted: string | number | undefined,
  received: Amount,
  transfers: readonly Pick<Received, 'amount'>[],
): boolean {
  if (wanted === undefined) return true;
  const parsed = parseDecimal(wanted, received.decimals);
  if (!parsed.ok || parsed.value > received.amount) return false;
  return [received, ...transfers].some(({ amount }) => amount === parsed.value);
}

const NAMES: Readonly<Record<NetworkId, string>> = {
  solana: 'Solana Mainnet',
  'solana-devnet': 'Solana Devnet',
  'solana-testnet': 'Solana Testnet',
};

/** Mainnet's own times, which the contract shows for `solana` only. */
const MAINNET_TIMES = { block_time: '~210ms', finality: '~7s' };

/** Symbols in the contract's order; other tokens follow. */
const CONTRACT_ORDER = ['SOL', 'USDC', 'USDT'];

/** The networks that this facilitator serves, by id. */
export function networksView({
  network,
  tokens,
}: Pick<Facilitator, 'network' | 'tokens'>): ResponseBody<typeof networksResponse> {
  const symbols = new Set(['SOL', ...tokens.map(({ symbol }) => symbol)]);
  const first = CONTRACT_ORDER.filter((it) => symbols.has(it));
  const rest = [...symbols].filter((it) => !CONTRACT_ORDER.includes(it));
  const record = { name: NAMES[network], type: 'svm' as const, tokens: [...first, ...rest] };
  return { [network]: network === 'solana' ? { ...record, ...MAINNET_TIMES } : record };
}
