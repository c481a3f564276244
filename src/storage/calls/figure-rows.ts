import type { Row } from '../sql/sql-database.js';
import { exactSum } from '../sql/sql-sums.js';
import type { Figures } from './call-store.js';
import type { RollupKind } from './rollups.js';
import type { RouteFigures } from './route-figures.js';

type Writable<T> = { -readonly [K in keyof T]: T[K] extends ReadonlyMap<infer L, infer V> ? Map<L, V> : T[K] };

type RouteKind = 'route_calls' | 'route_paid' | 'route_revenue';
/** Kinds that can be summed over time; of payers only those of one step are distinct. */
type SummedKind = Exclude<RollupKind, 'payers' | 'payers_day' | RouteKind>;

/** How a sum of each kind goes into the figures of its step. */
const PLACES: Readonly<Record<SummedKind, (figures: Writable<Figures>, label: string, sum: bigint) => void>> = {
  calls: (figures, _label, sum) => {
    figures.calls = Number(sum);
  },
  paid: (figures, _label, sum) => {
    figures.paid = Number(sum);
  },
  challenged: (figures, _label, sum) => {
    figures.challenged = Number(sum);
  },
  refused: (figures, _label, sum) => {
    figures.refused = Number(sum);
  },
  upstream_errors: (figures, _label, sum) => {
    figures.upstreamErrors = Number(sum);
  },
  pass_uses: (figures, _label, sum) => {
    figures.passUses = Number(sum);
  },
  passes_sold: (figures, _label, sum) => {
    figures.passesSold = Number(sum);
  },
  revenue: (figures, label, sum) => figures.revenue.set(label, sum),
  credit_given: (figures, label, sum) => figures.creditGiven.set(label, sum),
  credit_used: (figures, label, sum) => figures.creditUsed.set(label, sum),
  latency: (figures, label, sum) => figures.latency.set(Number(label), Number(sum)),
  upstream_ms: (figures, label, sum) => figures.upstreamLatency.set(Number(label), Number(sum)),
  gateway_ms: (figures, label, sum) => figures.gatewayLatency.set(Number(label), Number(sum)),
  refusals: (figures, label, sum) => figures.refusals.set(label, Number(sum)),
};

/**
 * The figures of all steps that have any, in order.
 * @param sums - rows of sums by kind, label and step
 * @param payers - rows of distinct payers by step
 */
export function toFigures(
  sums: readonly Row[],
  payers: readonly Row[],
  from: number,
  stepMs: number,
): readonly Figures[] {
  const steps = new Map<number, Writable<Figures>>();
  const stepOf = (row: Row): Writable<Figures> => {
    const at = from + Number(row.step) * stepMs;
    const figures = steps.get(at) ?? emptyFigures(at);
    steps.set(at, figures);
    return figures;
  };
  for (const row of sums) PLACES[row.kind as SummedKind](stepOf(row), String(row.label), exactSum(row));
  for (const row of payers) stepOf(row).payers = Number(row.payers);
  return [...steps.values()].sort((a, b) => a.at - b.at);
}

/** A step in which nothing happened. */
export function emptyFigures(at: number): Writable<Figures> {
  const counts = {
    calls: 0,
    paid: 0,
    challenged: 0,
    refused: 0,
    upstreamErrors: 0,
    payers: 0,
    passUses: 0,
    passesSold: 0,
  };
  return {
    at,
    ...counts,
    revenue: new Map(),
    creditGiven: new Map(),
    creditUsed: new Map(),
    latency: new Map(),
    upstreamLatency: new Map(),
    gatewayLatency: new Map(),
    refusals: new Map(),
  };
}

/** The figures of all routes that have any, from rows of sums by kind and label. */
export function toRouteFigures(sums: readonly Row[]): readonly RouteFigures[] {
  const routes = new Map<string, Writable<RouteFigures>>();
  for (const row of sums) {
    const [kind, label] = [row.kind as RouteKind, String(row.label)];
    const [mint, route] = kind === 'route_revenue' ? cutAtSpace(label) : ['', label];
    const figures = routes.get(route) ?? { route, calls: 0, paid: 0, revenue: new Map() };
    routes.set(route, figures);
    if (kind === 'route_revenue') figures.revenue.set(mint, exactSum(row));
    else figures[kind === 'route_calls' ? 'calls' : 'paid'] = Number(exactSum(row));
  }
  return [...routes.values()];
}

function cutAtSpace(label: string): readonly [string, string] {
  const at = label.indexOf(' ');
  return [label.slice(0, at), label.slice(at + 1)];
}
