import { defined } from '../../lib/defined.js';
import { moneyOf } from '../../protocol/networks/tokens.js';
import { NETWORK_IDS } from '../../protocol/types.js';
import { eventSteps } from '../events/event-statements.js';
import { SPENDING_WINDOWS } from '../keys/service-keys.js';
import type { Row, SqlDatabase, Step } from '../sql/sql-database.js';
import { exactSum, MAX_SUM, summand } from '../sql/sql-sums.js';
import { listStep } from './call-list.js';
import { toCall } from './call-rows.js';
import { CALLS } from './call-statements.js';
import type {
  BudgetNotice,
  BudgetStanding,
  BudgetWindow,
  CallStore,
  ReservationRequest,
  ReservationResult,
} from './call-store.js';
import { callWriter } from './call-writer.js';
import { emptyFigures, toFigures, toRouteFigures } from './figure-rows.js';
import { DAY_MS, dayOf, HOUR_MS, hourOf, startsOf, windowStart } from './periods.js';
import { createRefusalCounter } from './refusal-counter.js';
import { challengeRollups, refusalRollups } from './rollups.js';
import { SPEND } from './spend-statements.js';
import type { SpendingQuery, SpendingSum } from './spending-sums.js';

/**
 * A book of calls on SQLite or Postgres. The database is not closed with it.
 * @param now - clock, milliseconds since the epoch; tells which reservations have ended when they are forgotten
 */
export function createSqlCallStore(database: SqlDatabase, now: () => number = Date.now): CallStore {
  const refusals = createRefusalCounter(database);

  async function prune(before: number, sumsBefore: number, limit: number): Promise<number> {
    const calls = await database.query(CALLS.prune, before, limit);
    const sums = await database.query(CALLS.pruneSums, dayOf(sumsBefore), limit);
    const ended = await database.query(SPEND.pruneReservations, now(), limit);
    const hours = await database.query(SPEND.pruneHours, hourOf(now()) - HOUR_MS, limit);
    return calls.length + sums.length + ended.length + hours.length;
  }

  return {
    finish: callWriter(database, now),
    keepsFor: ({ rows }) => rows?.database === database,
    prune,
    reserve: (request) => reserve(database, request),
    giveBack: async (id) => void (await database.query(SPEND.giveBack, id)),
    refuse: (call) => refusals.add(refusalRollups(call)),
    challenge: (call) => refusals.add(challengeRollups(call)),
    flush: refusals.flush,
    close: refusals.close,
    calls: async (query) => (await database.query(...listStep(query))).map(toCall),
    async series(projectId, { from, to }, stepMs) {
      const values = [projectId, from, to, stepMs] as const;
      const byStep = stepMs === DAY_MS && from === dayOf(from) ? CALLS.payersByDay : CALLS.payersByStep;
      const rows = [database.query(CALLS.sums, ...values), database.query(byStep, ...values)] as const;
      const [sums, payers] = await Promise.all(rows);
      return toFigures(sums, payers, from, stepMs);
    },
    routes: async (projectId, { from, to }) => toRouteFigures(await database.query(CALLS.routes, projectId, from, to)),
    async totals(projectId, { from, to }) {
      const sums = await database.query(CALLS.sums, projectId, from, to, to - from);
      return toFigures(sums, [], from, to - from)[0] ?? emptyFigures(from);
    },
    async countPayers(projectId, { from, to }) {
      const [row] = await database.query(CALLS.payers, projectId, from, to, ...wholeDays(from, to));
      return Number(row?.payers ?? 0);
    },
    spending: async (query) =>
      (await database.query(SPEND.byProject, ...filterOf(query))).map((row) => ({
        keyId: String(row.key_id),
        projectId: String(row.project_id),
        ...toSum(row),
      })),
    spendingByDay: async (query) =>
      (await database.query(SPEND.byDay, ...filterOf(query))).map((row) => ({ at: Number(row.start), ...toSum(row) })),
    budgetUse: async (keyId, at) =>
      (await database.query(SPEND.budgetUse, keyId, ...startsOf(at))).map((row) => ({
        keyId,
        mint: String(row.mint),
        window: row.period as BudgetWindow,
        used: BigInt(String(row.amount)),
      })),
    async budgetStanding(keyId, mint, at) {
      const [row = {}] = await database.query(SPEND.used, keyId, moneyOf(mint), ...startsOf(at), at);
      return standingIn(row);
    },
    notice: async (notice, event) => (await database.batchIf(tellStep(notice), eventSteps([event]))).length > 0,
  };
}

async function reserve(database: SqlDatabase, request: ReservationRequest): Promise<ReservationResult> {
  const { id, caller, charge, budgets, at, leaseMs } = request;
  const { keyId, owner } = caller;
  const mint = moneyOf(charge.mint);
  const limits = SPENDING_WINDOWS.map((window) => budgets.find((it) => it.window === window)?.limit ?? MAX_SUM);
  const times = [...startsOf(at), at + leaseMs, at] as const;
  const [, reserved = []] = await database.batch([
    [SPEND.lock, keyId, mint, owner],
    [SPEND.reserve, id, keyId, mint, summand(charge.amount), ...times, ...limits.map(summand)],
  ]);
  if (reserved.length > 0) return { ok: true, isNew: true };
  if ((await database.query(SPEND.reserved, id)).length > 0) return { ok: true, isNew: false };
  const [row = {}] = await database.query(SPEND.used, keyId, mint, ...startsOf(at), at);
  return refusal(request, row);
}

/** Which budget was in the way; the tightest one where room was made meanwhile. */
function refusal({ budgets, charge }: ReservationRequest, row: Row): ReservationResult {
  const standing = standingIn(row);
  const uses = budgets.map((limitReached) => {
    const { spent, held } = standing[limitReached.window];
    const used = spent + held;
    return { limitReached, used, room: limitReached.limit - used - charge.amount };
  });
  const [first] = uses.sort((a, b) => (a.room < b.room ? -1 : 1));
  if (first === undefined) return { ok: true, isNew: false };
  return { ok: false, limitReached: first.limitReached, used: first.used };
}

function standingIn(row: Row): BudgetStanding {
  const amount = (name: string) => BigInt(String(row[name] ?? 0));
  const of = (window: BudgetWindow) => ({ spent: amount(`${window}_spent`), held: amount(`${window}_held`) });
  return { hour: of('hour'), day: of('day'), month: of('month'), total: of('total') };
}

function tellStep({ caller, mint, window, limit, at, percent, atLeast }: BudgetNotice): Step {
  return [
    SPEND.tell,
    ...[caller.keyId, window, windowStart(window, at), moneyOf(mint), caller.owner],
    ...[percent, summand(limit), summand(atLeast)],
  ];
}

/** Where the first whole day of a range begins and the last one ends; both at its end where there is none. */
function wholeDays(from: number, to: number): readonly [number, number] {
  const [first, last] = [dayOf(from + DAY_MS - 1), dayOf(to)];
  return first < last ? [first, last] : [to, to];
}

function filterOf({ owner, from, to, keyId = '', projectId = '', network, mode }: SpendingQuery) {
  return [owner, dayOf(from), to, keyId, projectId, network ?? '', mode ?? ''] as const;
}

function toSum(row: Row): SpendingSum {
  const network = NETWORK_IDS.find((it) => it === row.network);
  return { mint: String(row.mint), amount: exactSum(row), calls: Number(row.calls), ...defined({ network }) };
}
