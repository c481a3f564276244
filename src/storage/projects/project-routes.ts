import type { CallPrice } from './call-price.js';

/** Calls that a project treats in their own way: exactly one of `price`, `free` and `deny`. */
export interface ProjectRoute {
  /** In capitals; `GET` stands for `HEAD` as well. Default: every method. */
  readonly method?: string;
  /** Below `/v1/<slug>`: segments after `/`, of which `*` is any one, and `**` at the end any rest, also none. */
  readonly path: string;
  readonly price?: CallPrice;
  /** It is passed on without payment. */
  readonly free?: true;
  /** It is not passed on: the status that callers are told. */
  readonly deny?: 403 | 404;
}

/** Calls of a key that cost nothing, so many in each window. */
export interface FreeCallRule {
  readonly count: number;
  /** Windows begin with the hour, the day and the month of UTC. */
  readonly window: FreeCallWindow;
}

/** How long free calls last. */
export type FreeCallWindow = (typeof FREE_CALL_WINDOWS)[number];

/** The windows that there are. */
export const FREE_CALL_WINDOWS = ['hour', 'day', 'month'] as const;

/** Most routes of a project. */
export const MAX_ROUTES = 100;

/** What calls a route is of. */
export interface RouteAddress {
  readonly method?: string | undefined;
  readonly path: string;
}

/** The name of a route: what is bought for it is good for it, wherever in the list it stands. */
export function routeName({ method = '*', path }: RouteAddress): string {
  return `${method} ${path}`;
}
