import type { AnalyticsPoint, ProjectAnalytics } from '../../gateway/figures/analytics.js';
import type { TimeSteps } from '../../gateway/figures/time-steps.js';
import type { TokenLabel } from '../../gateway/token-label.js';
import { formatAmount } from '../../protocol/money/money.js';
import type { ListedCall } from '../../storage/calls/call-store.js';
import { toCsv } from '../framework/csv.js';
import type { ResponseBody } from '../framework/fields.js';
import type { analyticsResponse, callResponse } from './schemas.js';

type Labels = ReadonlyMap<string, TokenLabel>;

/** The figures of a project as its owner sees them. */
export function analyticsView(
  { series, totals, tokens }: ProjectAnalytics,
  { interval, from, to }: TimeSteps,
): ResponseBody<typeof analyticsResponse> {
  return {
    interval: interval === 'hour' ? 'hour' : 'day',
    from: timeText(from),
    to: timeText(to),
    series: series.map((point) => ({ t: timeText(point.at), ...figuresView(point, tokens) })),
    totals: figuresView(totals, tokens),
    tokens: Object.fromEntries([...tokens].map(([mint, { symbol, decimals }]) => [symbol, { mint, decimals }])),
  };
}

/** The series as a table: a column for each token of the revenue and each reason of refusal. */
export function analyticsCsv({ series, totals, tokens }: ProjectAnalytics): string {
  const labels = [...tokens];
  const reasons = [...totals.refusals.keys()].sort();
  const head = [
    ...['t', 'calls', 'paid', 'refused', 'payers', 'p50_ms', 'p95_ms', 'upstream_errors'],
    ...labels.map(([, { symbol }]) => `revenue_${symbol}`),
    ...reasons.map((reason) => `refused_${reason}`),
  ];
  const rows = series.map((it) => [
    ...[timeText(it.at), it.calls, it.paid, it.refused, it.payers, it.p50Ms, it.p95Ms, it.upstreamErrors],
    ...labels.map(([mint, { decimals }]) => formatAmount(it.revenue.get(mint) ?? 0n, decimals)),
    ...reasons.map((reason) => it.refusals.get(reason) ?? 0),
  ]);
  return toCsv([head, ...rows]);
}

/** A call as the project's owner sees it. */
export function callView(call: ListedCall, tokens: Labels): ResponseBody<typeof callResponse> {
  const { charge } = call;
  const label = charge === undefined ? undefined : tokens.get(charge.mint);
  return {
    id: call.id,
    at: timeText(call.at),
    method: call.method,
    status: call.status ?? null,
    outcome: call.outcome,
    reason: call.reason ?? null,
    key_id: call.keyId ?? null,
    payer: call.payer ?? null,
    amount: charge === undefined || label === undefined ? null : formatAmount(charge.amount, label.decimals),
    amount_atomic: charge === undefined ? null : String(charge.amount),
    token: label?.symbol ?? null,
    mint: charge?.mint ?? null,
    payment_id: call.paymentId ?? null,
    signature: call.signature ?? null,
    duration_ms: call.durationMs,
    request_id: call.requestId,
  };
}

function figuresView(point: AnalyticsPoint, tokens: Labels) {
  const revenue = [...tokens].map(([mint, label]) => ({ ...label, amount: point.revenue.get(mint) ?? 0n }));
  return {
    calls: point.calls,
    paid: point.paid,
    refused: point.refused,
    revenue: Object.fromEntries(revenue.map((it) => [it.symbol, formatAmount(it.amount, it.decimals)])),
    revenue_atomic: Object.fromEntries(revenue.map((it) => [it.symbol, String(it.amount)])),
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
