import { TollhouseError } from '../../errors/errors.js';
import type { ServiceKeys } from '../../identity/service-keys/service-keys.js';
import { defined } from '../../lib/defined.js';
import type { MoneyMode } from '../../protocol/networks/networks.js';
import type { NetworkId } from '../../protocol/types.js';
import type { BoughtBefore, PassFigures } from '../../storage/books/pass-figures.js';
import type { OwedResponse, ResponseFigures } from '../../storage/books/response-figures.js';
import type { BudgetLimit, CallStore } from '../../storage/calls/call-store.js';
import type { CreditStore, CreditSum } from '../../storage/calls/credit-store.js';
import { windowEnd, windowStart } from '../../storage/calls/periods.js';
import type { SpendingRow, SpendingSum } from '../../storage/calls/spending-sums.js';
import { type DescribeToken, labelsOf, type TokenLabel } from '../token-label.js';
import { type Budget, budgetsOf, type SpendingKey } from './budgets.js';
import type { TimeSteps } from './time-steps.js';

/** Who asks what was spent, and on what. */
export interface SpendingQuestion {
  readonly caller: {
    /** Wallet whose keys they are, base58. */
    readonly wallet: string;
    /** The key that asks, which sees its own spending only. */
    readonly keyId?: string;
    readonly projectId?: string;
  };
  readonly keyId?: string | undefined;
  readonly projectId?: string | undefined;
  /** Only what is money of this network, or of networks of this kind. */
  readonly network?: NetworkId | undefined;
  readonly mode?: MoneyMode | undefined;
  readonly steps: TimeSteps;
}

/** What is left of a budget. */
export interface BudgetState extends BudgetLimit {
  readonly keyId: string;
  readonly mint: string;
  readonly action: Budget['action'];
  /** Atomic units that were spent in the present window. */
  readonly used: bigint;
  /** Atomic units that calls under way hold back, and payments and payment requests that wait for theirs. */
  readonly held: bigint;
  /** When the next window begins, milliseconds since the epoch; missing where there is none. */
  readonly endsAt?: number;
}

/** What was spent in one step. */
export interface SpendingPoint {
  /** Start of the step, milliseconds since the epoch. */
  readonly at: number;
  readonly calls: number;
  /** Atomic units by what {@link spentAs} says of a token: money of two networks is never added up. */
  readonly spent: ReadonlyMap<string, bigint>;
}

/** What keys have spent, and may still spend. */
export interface SpendingReport {
  /** By key, project and token. */
  readonly rows: readonly SpendingRow[];
  /** By token and network. */
  readonly totals: readonly SpendingSum[];
  /** One point for each step, also where nothing was spent. */
  readonly series: readonly SpendingPoint[];
  readonly budgets: readonly BudgetState[];
  /** What was paid for nothing, and pays the next calls: by key, project and token. */
  readonly credit: readonly CreditSum[];
  /** Passes that the wallet has bought, the newest first; those of the project, key and money that are asked for. */
  readonly passes: readonly BoughtBefore[];
  /** What the wallet has paid and not had a response for, the newest first; of the project, key and money that are asked for. */
  readonly responses: readonly OwedResponse[];
  /** All tokens in it, by mint. */
  readonly tokens: ReadonlyMap<string, TokenLabel>;
}

/** What {@link createSpendingReports} works with. */
export interface SpendingReportParts {
  readonly book: Pick<CallStore, 'spending' | 'spendingByDay' | 'budgetStanding'>;
  readonly credit: Pick<CreditStore, 'list'>;
  readonly passSales: Pick<PassFigures, 'boughtBy'>;
  readonly responses: Pick<ResponseFigures, 'owedTo'>;
  readonly keys: Pick<ServiceKeys, 'get' | 'list'>;
  readonly describeToken: DescribeToken;
  /** The budgets of a key, as for `createSpending`. */
  readonly budgets?: ((key: SpendingKey) => readonly Budget[]) | undefined;
  /** Clock, milliseconds since the epoch. Default: the system's. */
  readonly now?: (() => number) | undefined;
}

/** Tells callers what they have spent. Rejects with `not_found` for a key that the caller may not see. */
export type SpendingReports = (question: SpendingQuestion) => Promise<SpendingReport>;

/** Budgets of more keys than this, the newest, are told only when a key is asked for. */
const MAX_KEYS = 100;

/** Makes the reports of what keys spend. */
export function createSpendingReports(parts: SpendingReportParts): SpendingReports {
  const { book, credit, passSales, describeToken, budgets = budgetsOf, now = Date.now } = parts;

  async function budgetStates(key: SpendingKey): Promise<readonly BudgetState[]> {
    const some = budgets(key);
    if (some.length === 0) return [];
    const time = now();
    return Promise.all(
      some.map(async ({ mint, window, limit, action }) => {
        const end = windowEnd(window, time);
        const { spent: used, held } = (await book.budgetStanding(key.id, mint, time))[window];
        const state = { keyId: key.id, mint, window, limit, action, used, held };
        return { ...state, ...(Number.isFinite(end) ? { endsAt: end } : {}) };
      }),
    );
  }

  return async ({ caller, projectId, network, mode, steps, ...wanted }) => {
    const keyId = caller.keyId ?? wanted.keyId;
    if (wanted.keyId !== undefined && wanted.keyId !== keyId) {
      throw new TollhouseError('not_found', 'A service key sees its own spending only.');
    }
    const keys = await keysOf(parts, caller, keyId);
    const whose = { owner: caller.wallet, ...defined({ keyId, projectId, network, mode }) };
    const query = { ...whose, from: steps.from, to: steps.to };
    // A key that asks sees what its wallet has paid, unless it asks for what was paid under it.
    const paid = defined({ projectId: projectId ?? caller.projectId, keyId: wanted.keyId, network, mode });
    const [rows, days, states, owed, passes, responses] = await Promise.all([
      book.spending(query),
      book.spendingByDay(query),
      Promise.all(keys.map(budgetStates)),
      credit.list(whose),
      passSales.boughtBy(caller.wallet, paid),
      parts.responses.owedTo(caller.wallet, paid),
    ]);
    const all = states.flat();
    const tokens = await labelsOf(
      [...rows, ...all, ...owed, ...passes.map((it) => it.price), ...responses].map(({ mint }) => mint),
      describeToken,
    );
    const sums = { rows, totals: totalsOf(rows), series: seriesOf(days, steps) };
    return { ...sums, budgets: all, credit: owed, passes, responses, tokens };
  };
}

async function keysOf(
  { keys }: SpendingReportParts,
  { wallet, projectId }: SpendingQuestion['caller'],
  keyId: string | undefined,
): Promise<readonly SpendingKey[]> {
  const holder = { wallet, ...defined({ projectId }) };
  if (keyId !== undefined) return [await keys.get(holder, keyId)];
  return (await keys.list(holder, { limit: MAX_KEYS })).filter(({ revokedAt }) => revokedAt === undefined);
}

/** Names what money is: a token of a network. */
export function spentAs({ mint, network }: Pick<SpendingSum, 'mint' | 'network'>): string {
  return `${network ?? ''} ${mint}`;
}

function totalsOf(rows: readonly SpendingSum[]): readonly SpendingSum[] {
  const totals = new Map<string, SpendingSum>();
  for (const { mint, network, amount, calls } of rows) {
    const money = { mint, ...defined({ network }) };
    const before = totals.get(spentAs(money));
    const sum = { amount: amount + (before?.amount ?? 0n), calls: calls + (before?.calls ?? 0) };
    totals.set(spentAs(money), { ...money, ...sum });
  }
  return [...totals.values()];
}

function seriesOf(
  days: readonly (SpendingSum & { readonly at: number })[],
  { starts, interval }: TimeSteps,
): readonly SpendingPoint[] {
  const points = new Map(starts.map((at) => [at, { at, calls: 0, spent: new Map<string, bigint>() }]));
  for (const { at, amount, calls, ...money } of days) {
    const point = points.get(windowStart(interval, at));
    if (point === undefined) continue;
    point.calls += calls;
    const name = spentAs(money);
    point.spent.set(name, amount + (point.spent.get(name) ?? 0n));
  }
  return [...points.values()];
}
