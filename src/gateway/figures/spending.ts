import { TollhouseError } from '../../errors/errors.js';
import { formatAmount } from '../../protocol/money/money.js';
import { moneyOf } from '../../protocol/networks/tokens.js';
import type { BudgetLimit, BudgetWindow, CallStore, Charge, KeyedCaller } from '../../storage/calls/call-store.js';
import { windowEnd } from '../../storage/calls/periods.js';
import type { DescribeToken } from '../token-label.js';
import { createBudgetNotices } from './budget-notices.js';
import { type Budget, budgetsOf, type SpendingKey } from './budgets.js';

/** A call that is going to cost something. */
export interface SpendingCall {
  readonly key: SpendingKey;
  readonly charge: Charge;
  /** When it came in, milliseconds since the epoch: the `at` of its record. */
  readonly at: number;
}

/** What is held back of a budget. */
export interface BudgetHold {
  /** For `CallStore.finish` and `giveBack`. */
  readonly id: string;
  /** Whether it was held back for the same payment before. */
  readonly isShared: boolean;
}

/** What {@link createSpending} works with. */
export interface SpendingParts {
  readonly book: Pick<CallStore, 'reserve' | 'giveBack' | 'budgetUse' | 'notice'>;
  readonly describeToken: DescribeToken;
  /** How long what is held back is believed to be needed, in milliseconds: longer than any call. Default: half an hour. */
  readonly leaseMs?: number | undefined;
  /** The budgets of a key. Default: its own `spending`, which blocks. */
  readonly budgets?: ((key: SpendingKey) => readonly Budget[]) | undefined;
}

/** What keys may spend. */
export interface Spending {
  /**
   * Holds back what a call is going to cost. A key with a limit spends only tokens that it has a limit for, or the limit
   * would be none.
   * @param payment - its id, or that of the payment request that it pays: it is held back once
   * @param leaseMs - how long it is believed to be needed, in milliseconds. Default: longer than any call
   * @returns undefined where nothing limits the key
   * @throws TollhouseError `spending_limit_reached`, `store_unavailable`: nothing is spent that cannot be counted
   */
  hold(call: SpendingCall, payment: string, leaseMs?: number): Promise<BudgetHold | undefined>;
  /** Gives back what a call did not cost; what others hold back for the same payment stays. */
  giveBack(hold: BudgetHold | undefined): Promise<void>;
  /**
   * Tells the owner of budgets that are used up, or nearly; call it after a call was written, without waiting. Never
   * rejects: what cannot be told now is told after the next call.
   */
  tell(call: SpendingCall): Promise<void>;
}

const LEASE_MS = 1_800_000;
const EACH: Readonly<Record<BudgetWindow, string>> = {
  hour: 'an hour',
  day: 'a day',
  month: 'a month',
  total: 'in all',
};

/** Makes the budgets of a gateway. */
export function createSpending(parts: SpendingParts): Spending {
  const { book, describeToken, leaseMs: longest = LEASE_MS, budgets = budgetsOf } = parts;
  const notices = createBudgetNotices({ book, describeToken });

  async function hold({ key, charge, at }: SpendingCall, payment: string, leaseMs = longest) {
    const blocking = budgets(key).filter(({ action }) => action === 'block');
    if (blocking.length === 0) return undefined;
    const matching = blocking.filter(({ mint }) => mint === moneyOf(charge.mint));
    if (matching.length === 0) throw await otherToken(blocking, charge);
    const result = await book.reserve({ id: payment, caller: callerOf(key), charge, budgets: matching, at, leaseMs });
    if (result.ok) return { id: payment, isShared: !result.isNew };
    const { limitReached, used } = result;
    await notices.tellRefused({ caller: callerOf(key), mint: moneyOf(charge.mint), at, ...limitReached, used });
    throw await tooMuch(limitReached, used, { key, charge, at });
  }

  async function tooMuch(budget: BudgetLimit, used: bigint, { charge, at }: SpendingCall): Promise<TollhouseError> {
    const { symbol, decimals } = await describeToken(charge.mint);
    const money = (amount: bigint) => `${formatAmount(amount, decimals)} ${symbol}`;
    const end = windowEnd(budget.window, at);
    const again = Number.isFinite(end) ? `The next ${budget.window} begins at ${new Date(end).toISOString()}.` : '';
    const detail =
      `The service key may spend ${money(budget.limit)} ${EACH[budget.window]}, ${money(used)} are spent or held back, ` +
      `and this call costs ${money(charge.amount)}. ${again}`;
    const retry = Number.isFinite(end) ? { retryAfterSeconds: Math.ceil((end - at) / 1_000) } : {};
    return new TollhouseError('spending_limit_reached', detail.trim(), retry);
  }

  async function otherToken(allowed: readonly Budget[], { mint }: Charge): Promise<TollhouseError> {
    const symbolOf = async (it: string) => (await describeToken(it)).symbol;
    const names = await Promise.all(allowed.map((it) => symbolOf(it.mint)));
    const detail = `The service key may spend ${names.join(', ')} only, and this call costs ${await symbolOf(mint)}.`;
    return new TollhouseError('spending_limit_reached', detail);
  }

  return {
    hold,
    giveBack: async (it) => (it === undefined || it.isShared ? undefined : book.giveBack(it.id)),
    tell: ({ key, charge, at }) => {
      const mint = moneyOf(charge.mint);
      const some = budgets(key).filter((it) => it.mint === mint);
      return notices.tellUsed({ caller: callerOf(key), mint, at }, some);
    },
  };
}

function callerOf({ id, owner }: SpendingKey): KeyedCaller {
  return { keyId: id, owner };
}
