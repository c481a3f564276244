import type { Figures } from '../../storage/calls/call-store.js';
import type { RouteFigures } from '../../storage/calls/route-figures.js';

/** What some calls of a project have brought, by which of its routes matched them. */
export interface RankedRoute extends Omit<RouteFigures, 'route'> {
  /** `route`: the one of the name. `none`: those that no route matched. `others`: those of all routes that are not told by name. */
  readonly kind: 'route' | 'none' | 'others';
  /** Name of the route, where there is one. */
  readonly route?: string;
}

/** Routes that are told by name: as many as a project can have at a time. */
export const MAX_NAMED_ROUTES = 100;

/**
 * Figures by route, those with the most calls first; then what no route matched. They sum up to the totals.
 * @param totals - of the same calls
 */
export function rankRoutes(
  routes: readonly RouteFigures[],
  totals: Pick<Figures, 'calls' | 'paid' | 'revenue'>,
): readonly RankedRoute[] {
  const sorted = [...routes].sort((a, b) => b.calls - a.calls || (a.route < b.route ? -1 : 1));
  const [named, others] = [sorted.slice(0, MAX_NAMED_ROUTES), sorted.slice(MAX_NAMED_ROUTES)];
  const matched = sumOf(routes);
  const none = { calls: totals.calls - matched.calls, paid: totals.paid - matched.paid };
  const rest = [...totals.revenue].map(([mint, sum]) => [mint, sum - (matched.revenue.get(mint) ?? 0n)] as const);
  return [
    ...named.map((it) => ({ ...it, kind: 'route' as const })),
    ...(others.length === 0 ? [] : [{ ...sumOf(others), kind: 'others' as const }]),
    { ...none, revenue: new Map(rest.map(notNegative)), kind: 'none' as const },
  ];
}

/** Where sums have stopped at the largest number that a column holds. */
function notNegative([mint, sum]: readonly [string, bigint]): readonly [string, bigint] {
  return [mint, sum < 0n ? 0n : sum];
}

function sumOf(routes: readonly RouteFigures[]): Omit<RouteFigures, 'route'> {
  const revenue = new Map<string, bigint>();
  for (const it of routes) for (const [mint, sum] of it.revenue) revenue.set(mint, sum + (revenue.get(mint) ?? 0n));
  const count = (of: (it: RouteFigures) => number) => routes.reduce((sum, it) => sum + of(it), 0);
  return { calls: count((it) => it.calls), paid: count((it) => it.paid), revenue };
}
