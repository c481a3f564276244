import { formatAmount, parseDecimal } from '../../protocol/money/money.js';
import { CommandError } from '../command.js';
import type { WalletBudget } from './budget.js';
import type { Spend } from './budget-book.js';

/** What a payment would take of a budget. */
export interface WantedSpend {
  /** Its token: the mint, and as people call it. */
  readonly paidIn: { readonly asset: string; readonly decimals: number; readonly symbol: string };
  readonly amount: bigint;
}

/**
 * Why a payment is more than its budget has left, in a sentence that says what that is and when there is enough again; undefined
 * where it is not.
 * @param spends - of its wallet and token
 * @throws CommandError where the limit is no amount of the token
 */
export function overBudget(
  budget: WalletBudget,
  { paidIn, amount }: WantedSpend,
  spends: readonly Spend[],
  now: number = Date.now(),
): string | undefined {
  const { decimals, symbol, asset } = paidIn;
  const show = (units: bigint) => `${formatAmount(units, decimals)} ${symbol}`;
  if (![symbol, asset].includes(budget.token))
    return `the price is ${show(amount)}, and the budget is in ${budget.token}`;
  const limit = parseDecimal(budget.limit, decimals);
  if (!limit.ok) throw new CommandError(`--budget: ${limit.detail}`);
  if (amount > limit.value) return `the price is ${show(amount)}, more than the whole budget of ${budget.text}`;
  const counted = spends
    .map((it) => ({ amount: it.amount, until: budget.endOf(it.at) }))
    .filter(({ until }) => until > now);
  let left = limit.value - counted.reduce((sum, it) => sum + it.amount, 0n);
  if (amount <= left) return undefined;
  const told = `the price is ${show(amount)}, and ${show(left < 0n ? 0n : left)} is left of the budget of ${budget.text}`;
  let again = now;
  for (const { amount: freed, until } of counted.toSorted((one, other) => one.until - other.until)) {
    if (amount <= left) break;
    left += freed;
    again = until;
  }
  return Number.isFinite(again)
    ? `${told}; there is enough again at ${new Date(again).toISOString()}`
    : `${told}, which does not begin anew`;
}
