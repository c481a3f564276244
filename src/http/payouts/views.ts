import type { OwedNow } from '../../gateway/payouts/payout-minimum.js';
import { shownPayoutState } from '../../gateway/payouts/payout-state.js';
import { formatAmount } from '../../protocol/money/money.js';
import type { Token } from '../../protocol/types.js';
import type { PayoutRecord } from '../../storage/payouts/payout-store.js';
import type { ResponseBody } from '../framework/fields.js';
import type { owedItemResponse, payoutResponse } from './schemas.js';

/**
 * A payout as its owner sees it.
 * @param explorer - address of a block explorer, before `/tx/…`
 */
export function payoutView(payout: PayoutRecord, token: Token, explorer: string): ResponseBody<typeof payoutResponse> {
  const { id, projectId, network, wallet, mint, legs, total, signed, reason, createdAt, updatedAt } = payout;
  return {
    id,
    project_id: projectId,
    state: shownPayoutState(payout),
    network,
    wallet,
    token: token.symbol,
    mint,
    ...amountView(total, token),
    legs: legs.map(({ recipient, amount }) => ({ recipient, ...amountView(amount, token) })),
    signature: signed?.signature ?? null,
    explorer_url: signed === undefined ? null : `${explorer}/tx/${signed.signature}`,
    reason: reason ?? null,
    created_at: timeOf(createdAt),
    updated_at: timeOf(updatedAt),
  };
}

/** What a recipient is owed as the owner sees it. */
export function owedView(owed: OwedNow, token: Token): ResponseBody<typeof owedItemResponse> {
  const { recipient, mint, amount, payments, oldestAt, wallet, held, minimum, payableFrom } = owed;
  return {
    recipient,
    token: token.symbol,
    mint,
    ...amountView(amount, token),
    payments,
    oldest_at: timeOf(oldestAt),
    wallet,
    held_back: held ?? null,
    minimum: minimum === undefined ? null : formatAmount(minimum, token.decimals),
    minimum_atomic: minimum === undefined ? null : String(minimum),
    payable_from: payableFrom === undefined ? null : timeOf(payableFrom),
  };
}

function amountView(amount: bigint, { decimals }: Token) {
  return { amount: formatAmount(amount, decimals), amount_atomic: String(amount) };
}

function timeOf(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}
