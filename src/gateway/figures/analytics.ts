import { defined } from '../../lib/defined.js';
import type { PassFigures } from '../../storage/books/pass-figures.js';
import type { ResponseFigures } from '../../storage/books/response-figures.js';
import type { CallStore, Figures, ListedCall, TimeRange } from '../../storage/calls/call-store.js';
import type { CallsQuery } from '../../storage/calls/calls-query.js';
import type { CreditStore } from '../../storage/calls/credit-store.js';
import { latencyPercentile } from '../../storage/calls/latency-buckets.js';
import { DAY_MS, HOUR_MS, hourOf } from '../../storage/calls/periods.js';
import { type DescribeToken, labelsOf, type TokenLabel } from '../token-label.js';
import { type RankedRoute, rankRoutes } from './figures-by-route.js';
import { type PassesOwed, passesOwed } from './passes-owed.js';
import { type ResponsesOwed, responsesOwed } from './responses-owed.js';
import { evenSteps, type TimeSteps } from './time-steps.js';

/** What a project did in a stretch of time. */
export interface AnalyticsPoint extends Omit<Figures, 'latency' | 'upstreamLatency' | 'gatewayLatency' | 'at'> {
  /** Start of the step, milliseconds since the epoch. */
  readonly at: number;
  /** Milliseconds within which half of the calls were answered, to within 5 %; missing where there were none. */
  readonly p50Ms?: number | undefined;
  /** The same for 95 of 100. */
  readonly p95Ms?: number | undefined;
  /** The same of how long upstreams took until they began to answer, and of how long we took until calls were passed on. */
  readonly upstream: Percentiles;
  readonly gateway: Percentiles;
}

/** Milliseconds within which half of some calls were over, and 95 of 100; missing where there were none. */
export interface Percentiles {
  readonly p50Ms?: number | undefined;
  readonly p95Ms?: number | undefined;
}

/** The figures of a project. */
export interface ProjectAnalytics {
  /** One point for each step, also where nothing happened. */
  readonly series: readonly AnalyticsPoint[];
  /** Payers are distinct over the whole range. */
  readonly totals: AnalyticsPoint;
  /** The totals by route, where that was asked for. */
  readonly routes?: readonly RankedRoute[];
  /** What is owed to callers as credit now: atomic units by mint. */
  readonly creditOwed: ReadonlyMap<string, bigint>;
  /** What is owed now to those who have bought passes. */
  readonly passes: PassesOwed;
  /** What was paid for calls that nobody has come for yet. */
  readonly responses: ResponsesOwed;
  /** All tokens of revenue and of what is owed, by mint. */
  readonly tokens: ReadonlyMap<string, TokenLabel>;
}

/** How a project has done lately, for the marketplace. */
export interface RecentFigures {
  readonly calls: number;
  /** Those that the upstream answered. */
  readonly succeeded: number;
  readonly p95Ms?: number;
}

/** What {@link createAnalytics} works with. */
export interface AnalyticsParts {
  readonly book: Pick<CallStore, 'series' | 'routes' | 'totals' | 'countPayers' | 'calls'>;
  readonly credit: Pick<CreditStore, 'owedBy'>;
  readonly passSales: Pick<PassFigures, 'openAt'>;
  readonly responses: Pick<ResponseFigures, 'owedAt'>;
  readonly describeToken: DescribeToken;
  /** Clock, milliseconds since the epoch. Default: the system's. */
  readonly now?: (() => number) | undefined;
}

/** Figures of projects, from the sums of hours; who may see them, the caller decides. */
export interface Analytics {
  /**
   * @param steps - of hours or days
   * @param byRoute - whether the totals are told by route as well. Default: they are not
   */
  analyze(projectId: string, steps: TimeSteps, byRoute?: boolean): Promise<ProjectAnalytics>;
  /** Calls of a project or a buyer, the newest first. */
  calls(query: CallsQuery): Promise<readonly ListedCall[]>;
  /** The last thirty days of some projects, by id. */
  recent(projectIds: readonly string[]): Promise<ReadonlyMap<string, RecentFigures>>;
}

const RECENT_MS = 30 * DAY_MS;
const MEDIAN = 0.5;
const SLOWEST = 0.95;

/** Makes the figures of a book of calls. */
export function createAnalytics(parts: AnalyticsParts): Analytics {
  const { book, credit, passSales, describeToken, now = Date.now } = parts;

  async function seriesOf(projectId: string, steps: TimeSteps): Promise<readonly Figures[]> {
    const runs = evenSteps(steps);
    return (await Promise.all(runs.map(({ stepMs, ...range }) => book.series(projectId, range, stepMs)))).flat();
  }

  async function analyze(projectId: string, steps: TimeSteps, byRoute = false): Promise<ProjectAnalytics> {
    const { from, to, starts } = steps;
    // Before the totals, which then have all that is in them.
    const byName = byRoute ? await book.routes(projectId, { from, to }) : undefined;
    const [figures, payers, creditOwed, open, unserved] = await Promise.all([
      seriesOf(projectId, steps),
      book.countPayers(projectId, { from, to }),
      credit.owedBy(projectId),
      passSales.openAt(projectId),
      parts.responses.owedAt(projectId),
    ]);
    const byStart = new Map(figures.map((it) => [it.at, it]));
    // Of a thousand hours most are alike: nothing happened in them.
    const idle = toPoint(sumOf([], from));
    const series = starts.map((at) => {
      const it = byStart.get(at);
      return it === undefined ? { ...idle, at } : toPoint(it);
    });
    const totals = { ...toPoint(sumOf(figures, from)), payers };
    const [passes, responses] = [passesOwed(open), responsesOwed(unserved)];
    const routes = byName && rankRoutes(byName, totals);
    const moneys = [totals.revenue, totals.creditGiven, totals.creditUsed, creditOwed, passes.owed, responses.owed];
    const mints = moneys.flatMap((it) => [...it.keys()]);
    const tokens = await labelsOf(mints, describeToken);
    return { series, totals, creditOwed, passes, responses, tokens, ...defined({ routes }) };
  }

  async function recentOf(projectId: string, range: TimeRange): Promise<RecentFigures> {
    const { calls, upstreamErrors, latency } = await book.totals(projectId, range);
    const p95Ms = latencyPercentile(latency, SLOWEST);
    return { calls, succeeded: calls - upstreamErrors, ...defined({ p95Ms }) };
  }

  return {
    analyze,
    calls: (query) => book.calls(query),
    async recent(projectIds) {
      const to = hourOf(now()) + HOUR_MS;
      const range = { from: to - RECENT_MS, to };
      const each = projectIds.map(async (id) => [id, await recentOf(id, range)] as const);
      return new Map(await Promise.all(each));
    },
  };
}

function toPoint({ latency, upstreamLatency, gatewayLatency, ...figures }: Figures): AnalyticsPoint {
  const [upstream, gateway] = [percentilesOf(upstreamLatency), percentilesOf(gatewayLatency)];
  return { ...figures, ...percentilesOf(latency), upstream, gateway };
}

function percentilesOf(latency: Figures['latency']): Percentiles {
  return { p50Ms: latencyPercentile(latency, MEDIAN), p95Ms: latencyPercentile(latency, SLOWEST) };
}

/** The sum of steps; payers cannot be summed. */
function sumOf(figures: readonly Figures[], at: number): Figures {
  const count = (pick: (it: Figures) => number) => figures.reduce((sum, it) => sum + pick(it), 0);
  const moneyBy = (pick: (it: Figures) => Figures['revenue']) => {
    const sums = new Map<string, bigint>();
    for (const it of figures) for (const [mint, amount] of pick(it)) sums.set(mint, (sums.get(mint) ?? 0n) + amount);
    return sums;
  };
  const countBy = <L>(pick: (it: Figures) => ReadonlyMap<L, number>) => {
    const sums = new Map<L, number>();
    for (const it of figures) for (const [label, calls] of pick(it)) sums.set(label, (sums.get(label) ?? 0) + calls);
    return sums;
  };
  return {
    at,
    calls: count((it) => it.calls),
    paid: count((it) => it.paid),
    passUses: count((it) => it.passUses),
    passesSold: count((it) => it.passesSold),
    challenged: count((it) => it.challenged),
    refused: count((it) => it.refused),
    upstreamErrors: count((it) => it.upstreamErrors),
    payers: 0,
    revenue: moneyBy((it) => it.revenue),
    creditGiven: moneyBy((it) => it.creditGiven),
    creditUsed: moneyBy((it) => it.creditUsed),
    latency: countBy((it) => it.latency),
    upstreamLatency: countBy((it) => it.upstreamLatency),
    gatewayLatency: countBy((it) => it.gatewayLatency),
    refusals: countBy((it) => it.refusals),
  };
}
