import { boundedCache } from '../../lib/bounded-cache.js';
import { formatAmount } from '../../protocol/money/money.js';
import type { BudgetLimit, BudgetNotice, CallStore, KeyedCaller } from '../../storage/calls/call-store.js';
import { windowEnd, windowStart } from '../../storage/calls/periods.js';
import { type EventRecord, newEvent } from '../../storage/events/events.js';
import type { DescribeToken } from '../token-label.js';

/** What {@link createBudgetNotices} works with. */
export interface BudgetNoticesParts {
  readonly book: Pick<CallStore, 'budgetUse' | 'notice'>;
  readonly describeToken: DescribeToken;
}

/** Whose spending of which token, and when. */
export interface NoticeSubject {
  readonly caller: KeyedCaller;
  /** Mint of the token, base58. */
  readonly mint: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** Tells owners of the budgets of their keys: `spending.threshold_reached`, `spending.limit_reached`. Never rejects. */
export interface BudgetNotices {
  /** After something was spent. */
  tellUsed(subject: NoticeSubject, budgets: readonly BudgetLimit[]): Promise<void>;
  /** After a call was refused. */
  tellRefused(refused: NoticeSubject & BudgetLimit & { readonly used: bigint }): Promise<void>;
}

const FULL = 100;
/** Shares of a budget that are told of, in percent, rising. */
const SHARES = [80, FULL] as const;
const MAX_REMEMBERED = 10_000;

/** Makes the notices of budgets, each of which is told once for its window, by whichever instance comes first. */
export function createBudgetNotices({ book, describeToken }: BudgetNoticesParts): BudgetNotices {
  // Spares the database a write for every call after the one that was told of.
  const told = boundedCache<string, true>({ max: MAX_REMEMBERED });

  async function tell(notice: BudgetNotice, used: bigint): Promise<void> {
    const { caller, mint, window, at, limit, percent } = notice;
    const name = [caller.keyId, mint, window, windowStart(window, at), limit, percent].join(' ');
    if (told.has(name)) return;
    await book.notice(notice, await eventOf(notice, used));
    told.set(name, true);
  }

  async function eventOf(
    { caller, mint, window, at, limit, percent }: BudgetNotice,
    used: bigint,
  ): Promise<EventRecord> {
    const { symbol, decimals } = await describeToken(mint);
    const end = windowEnd(window, at);
    const data = {
      key_id: caller.keyId,
      token: symbol,
      mint,
      window,
      window_ends_at: Number.isFinite(end) ? new Date(end).toISOString() : null,
      percent,
      limit: formatAmount(limit, decimals),
      limit_atomic: String(limit),
      used: formatAmount(used, decimals),
      used_atomic: String(used),
    };
    const type = percent === FULL ? 'spending.limit_reached' : 'spending.threshold_reached';
    return newEvent({ type, owner: caller.owner, data }, at);
  }

  async function tellUsed(subject: NoticeSubject, budgets: readonly BudgetLimit[]): Promise<void> {
    if (budgets.length === 0) return;
    const uses = await book.budgetUse(subject.caller.keyId, subject.at);
    for (const { window, limit } of budgets) {
      const used = uses.find((it) => it.mint === subject.mint && it.window === window)?.used ?? 0n;
      for (const percent of SHARES) {
        const atLeast = (limit * BigInt(percent) + 99n) / 100n;
        if (used > 0n && used >= atLeast) await tell({ ...subject, window, limit, percent, atLeast }, used);
      }
    }
  }

  return {
    tellUsed: (...asked) => tellUsed(...asked).catch(leaveForNextCall),
    tellRefused: ({ used, ...refused }) =>
      tell({ ...refused, percent: FULL, atLeast: 0n }, used).catch(leaveForNextCall),
  };
}

/** The database does not answer: nothing is remembered as told, so that the next call tells it. */
function leaveForNextCall(): void {}
