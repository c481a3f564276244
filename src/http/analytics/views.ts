import type { AnalyticsPoint, ProjectAnalytics } from '../../gateway/figures/analytics.js';
import type { TimeSteps } from '../../gateway/figures/time-steps.js';
import type { TokenLabel } from '../../gateway/token-label.js';
import { formatAmount } from '../../protocol/money/money.js';
import { emptyFigures } from '../../storage/calls/figure-rows.js';
import { toCsv } from '../framework/csv.js';
import type { ResponseBody } from '../framework/fields.js';
import type { analyticsResponse } from './schemas.js';

type Labels = ReadonlyMap<string, TokenLabel>;

/** Sums of money of a step, by the names of their columns. */
const MONEYS = [
  ['revenue', (it: AnalyticsPoint) => it.revenue],
  ['credit_given', (it: AnalyticsPoint) => it.creditGiven],
  ['credit_used', (it: AnalyticsPoint) => it.creditUsed],
] as const;

/** A step in which nobody called. */
const NOTHING: AnalyticsPoint = { ...emptyFigures(0), p50Ms: undefined, p95Ms: undefined };

/** The figures of a project as its owner sees them. */
export function analyticsView(
  { series, totals, creditOwed, passes, tokens }: ProjectAnalytics,
  { interval, from, to }: TimeSteps,
): ResponseBody<typeof analyticsResponse> {
  const idle = figuresView(NOTHING, tokens);
  const viewOf = (it: AnalyticsPoint) => (it.calls + it.challenged + it.refused === 0 ? idle : figuresView(it, tokens));
  return {
    interval: interval === 'hour' ? 'hour' : 'day',
    from: timeText(from),
    to: timeText(to),
    series: series.map((point) => ({ t: timeText(point.at), ...viewOf(point) })),
    totals: figuresView(totals, tokens),
    ...moneyView('credit_owed', creditOwed, tokens),
    passes: {
      open: passes.open,
      ...moneyView('owed', passes.owed, tokens),
      first_end: passes.ends === undefined ? null : timeText(passes.ends.first),
      last_end: passes.ends === undefined ? null : timeText(passes.ends.last),
    },
    tokens: Object.fromEntries([...tokens].map(([mint, { symbol, decimals }]) => [symbol, { mint, decimals }])),
  };
}

/** The series as a table: a column for each token of the revenue and each reason of refusal. */
export function analyticsCsv({ series, totals, tokens }: ProjectAnalytics): string {
  const labels = [...tokens];
  const reasons = [...totals.refusals.keys()].sort();
  const head = [
    ...['t', 'calls', 'paid', 'refused', 'payers', 'p50_ms', 'p95_ms', 'upstream_errors'],
    ...labels.flatMap(([, { symbol }]) => MONEYS.map(([name]) => `${name}_${symbol}`)),
    ...reasons.map((reason) => `refused_${reason}`),
    'challenged',
  ];
  const rows = series.map((it) => [
    ...[timeText(it.at), it.calls, it.paid, it.refused, it.payers, it.p50Ms, it.p95Ms, it.upstreamErrors],
    ...labels.flatMap(([mint, { decimals }]) =>
      MONEYS.map(([, sums]) => formatAmount(sums(it).get(mint) ?? 0n, decimals)),
    ),
    ...reasons.map((reason) => it.refusals.get(reason) ?? 0),
    it.challenged,
  ]);
  return toCsv([head, ...rows]);
}

/** Money by symbol: in whole tokens, and under the name with `_atomic` in atomic units. */
function moneyView<N extends string>(name: N, money: ReadonlyMap<string, bigint>, tokens: Labels) {
  const sums = [...tokens].map(([mint, label]) => ({ ...label, amount: money.get(mint) ?? 0n }));
  return {
    [name]: Object.fromEntries(sums.map((it) => [it.symbol, formatAmount(it.amount, it.decimals)])),
    [`${name}_atomic`]: Object.fromEntries(sums.map((it) => [it.symbol, String(it.amount)])),
  } as Record<N | `${N}_atomic`, Record<string, string>>;
}

function figuresView(point: AnalyticsPoint, tokens: Labels) {
  return {
    calls: point.calls,
    paid: point.paid,
    passes_sold: point.passesSold,
    pass_uses: point.passUses,
    challenged: point.challenged,
    refused: point.refused,
    ...moneyView('revenue', point.revenue, tokens),
    ...moneyView('credit_given', point.creditGiven, tokens),
    ...moneyView('credit_used', point.creditUsed, tokens),
    payers: point.payers,
    p50_ms: point.p50Ms ?? null,
    p95_ms: point.p95Ms ?? null,
    upstream_errors: point.upstreamErrors,
    refusals: Object.fromEntries(point.refusals),
  };
}

function timeText(time: number): string {
  return new Date(time).toISOString();
}
