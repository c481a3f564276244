import { moneyOf } from '../../protocol/networks/tokens.js';
import type { BudgetLimit } from '../../storage/calls/call-store.js';
import type { KeySpending } from '../../storage/keys/service-keys.js';

/** What a key may spend of one token in a window. */
export interface Budget extends BudgetLimit {
  /** Mint of the token, base58; that of wrapped SOL for SOL of both kinds. */
  readonly mint: string;
  /** `block` refuses what would go beyond the limit; `notify` only tells the owner. */
  readonly action: 'block' | 'notify';
}

/** A key whose spending is watched. */
export interface SpendingKey {
  readonly id: string;
  /** Wallet of the key's owner, base58. */
  readonly owner: string;
  readonly spending?: KeySpending | undefined;
}

/** The budgets of a key: what its owner allowed it to spend, and not more. */
export function budgetsOf({ spending }: Pick<SpendingKey, 'spending'>): readonly Budget[] {
  if (spending === undefined) return [];
  const { asset, window, limit, action } = spending;
  return [{ mint: moneyOf(asset), window, limit, action }];
}
