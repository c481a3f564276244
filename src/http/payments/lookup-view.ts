import type { ChainLookup } from '../../facilitator/requests/payment-request-types.js';
import { formatAmount, parseDecimal } from '../../protocol/money/money.js';
import type { Token } from '../../protocol/types.js';
import { NATIVE_SOL } from '../../solana/transaction/programs.js';
import type { Answer } from '../framework/response.js';
import type { verifiedResponse } from './payment-responses.js';
import type { ExpectedTransfer } from './verify-body.js';

type Received = ChainLookup['received'][number];
type Amount = Pick<Received, 'asset' | 'amount' | 'decimals'>;

/**
 * Answer of `POST /verify` in the contract's shape; what is not known is null. Verified is what arrived for a wallet and stayed
 * with it, by what it holds more after the transaction; instructions that say so are no proof.
 */
export function lookupView(
  found: ChainLookup,
  expected: ExpectedTransfer | undefined,
  tokens: readonly Token[],
): Answer<typeof verifiedResponse> {
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
    received: received.map((it) => ({ ...amountView(it, tokens), to: it.to })),
    transfers: transfers.map((it) => ({ ...amountView(it, tokens), from: it.from, to: it.to })),
  };
}

function amountView({ asset, amount, decimals }: Amount, tokens: readonly Token[]) {
  return {
    amount: Number(formatAmount(amount, decimals)),
    token: symbolOf(asset, tokens) ?? asset,
    mint: asset === NATIVE_SOL ? null : asset,
    amount_atomic: String(amount),
  };
}

function symbolOf(asset: string, tokens: readonly Token[]): string | undefined {
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
