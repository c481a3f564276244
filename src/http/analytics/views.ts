import type { AnalyticsPoint, ProjectAnalytics } from '../../gateway/figures/analytics.js';
import type { RankedRoute } from '../../gateway/figures/figures-by-route.js';
import type { TimeSteps } from '../../gateway/figures/time-steps.js';
import { localTimeText } from '../../gateway/figures/time-zone.js';
import type { TokenLabel } from '../../gateway/token-label.js';
import { formatAmount } from '../../protocol/money/money.js';
import { emptyFigures } from '../../storage/calls/figure-rows.js';
import { toCsv } from '../framework/csv.js';
import { type ResponseBody, timeOrNull, timeText } from '../framework/fields.js';
import type { analyticsResponse } from './schemas.js';

type Labels = ReadonlyMap<string, TokenLabel>;

/** Sums of money of a step, by the names of their columns. */
const MONEYS = [
  ['revenue', (it: AnalyticsPoint) => it.revenue],
  ['credit_given', (it: AnalyticsPoint) => it.creditGiven],
  ['credit_used', (it: AnalyticsPoint) => it.creditUsed],
] as const;

/** A step in which nobody called. */
const NOTHING: AnalyticsPoint = { ...emptyFigures(0), upstream: {}, gateway: {} };

/** The figures of a project as its owner sees them. */
export function analyticsView(
  { series, totals, routes, creditOwed, passes, responses, tokens }: ProjectAnalytics,
  steps: TimeSteps,
): ResponseBody<typeof analyticsResponse> {
  const { interval, from, to, zone } = steps;
  const idle = figuresView(NOTHING, tokens);
  const viewOf = (it: AnalyticsPoint) => (it.calls + it.challenged + it.refused === 0 ? idle : figuresView(it, tokens));
  return {
    interval: interval === 'hour' ? 'hour' : 'day',
    from: timeText(from),
    to: timeText(to),
    tz: zone?.name ?? 'UTC',
    series: series.map((point) => ({ ...timesOf(point, steps), ...viewOf(point) })),
    totals: figuresView(totals, tokens),
    ...(routes === undefined ? {} : { routes: routes.map((it) => routeView(it, tokens)) }),
    ...moneyView('credit_owed', creditOwed, tokens),
    passes: {
      open: passes.open,
      ...moneyView('owed', passes.owed, tokens),
      first_end: passes.ends === undefined ? null : timeText(passes.ends.first),
      last_end: passes.ends === undefined ? null : timeText(passes.ends.last),
    },
    responses: {
      open: responses.open,
      ...moneyView('owed', responses.owed, tokens),
      oldest: timeOrNull(responses.oldestAt),
    },
    tokens: Object.fromEntries([...tokens].map(([mint, { symbol, decimals }]) => [symbol, { mint, decimals }])),
  };
}

function timesOf({ at }: AnalyticsPoint, { zone }: TimeSteps) {
  return { t: timeText(at), local: zone === undefined ? timeText(at) : localTimeText(zone, at) };
}

function routeView({ kind, route, calls, paid, revenue }: RankedRoute, tokens: Labels) {
  return { kind, route: route ?? null, calls, paid, ...moneyView('revenue', revenue, tokens) };
}

/** The totals by route as a table: a column for each token. */
export function routesCsv({ routes = [], tokens }: ProjectAnalytics): string {
  const labels = [...tokens];
  const head = ['kind', 'route', 'calls', 'paid', ...labels.map(([, { symbol }]) => `revenue_${symbol}`)];
  const rows = routes.map(({ kind, route, calls, paid, revenue }) => [
    ...[kind, route, calls, paid],
    ...labels.map(([mint, { decimals }]) => formatAmount(revenue.get(mint) ?? 0n, decimals)),
  ]);
  return toCsv([head, ...rows]);
}

/** The series as a table: a column for each token of the revenue and each reason of refusal. */
export function analyticsCsv({ series, totals, tokens }: ProjectAnalytics, steps: TimeSteps): string {
  const labels = [...tokens];
  const reasons = [...totals.refusals.keys()].sort();
  const head = [
    ...['t', 'calls', 'paid', 'refused', 'payers', 'p50_ms', 'p95_ms', 'upstream_errors'],
    ...labels.flatMap(([, { symbol }]) => MONEYS.map(([name]) => `${name}_${symbol}`)),
    ...reasons.map((reason) => `refused_${reason}`),
    ...['challenged', 'local', 'upstream_p50_ms', 'upstream_p95_ms', 'gateway_p50_ms', 'gateway_p95_ms'],
  ];
  const rows = series.map((it) => [
    ...[timeText(it.at), it.calls, it.paid, it.refused, it.payers, it.p50Ms, it.p95Ms, it.upstreamErrors],
    ...labels.flatMap(([mint, { decimals }]) =>
      MONEYS.map(([, sums]) => formatAmount(sums(it).get(mint) ?? 0n, decimals)),
    ),
    ...reasons.map((reason) => it.refusals.get(reason) ?? 0),
    ...[
      it.challenged,
      timesOf(it, steps).local,
      it.upstream.p50Ms,
      it.upstream.p95Ms,
      it.gateway.p50Ms,
      it.gateway.p95Ms,
    ],
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
    upstream_p50_ms: point.upstream.p50Ms ?? null,
    upstream_p95_ms: point.upstream.p95Ms ?? null,
    gateway_p50_ms: point.gateway.p50Ms ?? null,
    gateway_p95_ms: point.gateway.p95Ms ?? null,
    upstream_errors: point.upstreamErrors,
    refusals: Object.fromEntries(point.refusals),
  };
}
