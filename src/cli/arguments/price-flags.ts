import { UsageError } from '../command.js';
import { freeCallsArgument, type RouteArgument, routeArgument } from './route-argument.js';

/** Flags that say what calls of some paths cost, and which are free; for `readArguments`. */
export const PRICE_FLAGS = {
  route: { type: 'string', multiple: true },
  'no-routes': { type: 'boolean' },
  'free-calls': { type: 'string' },
} as const;

/** What was given for {@link PRICE_FLAGS}. */
export interface PriceFlags {
  readonly route?: readonly string[] | undefined;
  readonly 'no-routes'?: boolean | undefined;
  readonly 'free-calls'?: string | undefined;
}

/** The fields of a project that they say; those that were not given are missing. Null takes away. */
export function readPriceFlags(flags: PriceFlags): {
  readonly routes?: readonly RouteArgument[] | null;
  readonly free_calls?: object | null;
} {
  const { route, 'no-routes': isWithout, 'free-calls': free } = flags;
  if (route !== undefined && isWithout) throw new UsageError('give --route or --no-routes, not both');
  const routes = isWithout ? null : route?.map((it) => routeArgument('--route', it));
  return {
    ...(routes === undefined ? {} : { routes }),
    ...(free === undefined ? {} : { free_calls: freeCallsArgument('--free-calls', free) }),
  };
}
