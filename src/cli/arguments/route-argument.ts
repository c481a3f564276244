import { UsageError } from '../command.js';
import { type PricesArgument, pricesArgument } from './prices-argument.js';

/** A route as an endpoint of projects takes it. */
export interface RouteArgument {
  readonly method?: string;
  readonly path: string;
  readonly price?: PricesArgument;
  readonly free?: true;
  readonly deny?: 403 | 404;
}

/** A route as people write it: `GET /reports/** 0.05 USDC`, `/health free`, `/admin/** deny`, `/admin/** deny 403`. */
export function routeArgument(flag: string, text: string): RouteArgument {
  const [, verb, path, said = ''] = /^(?:([A-Za-z-]+) +)?(\/\S*) +(.+)$/.exec(text.trim()) ?? [];
  if (path === undefined) {
    throw new UsageError(
      `${flag} must be as in "GET /reports/** 0.05 USDC", "/health free" or "/admin/** deny", not "${text}"`,
    );
  }
  const calls = { ...(verb === undefined ? {} : { method: verb.toUpperCase() }), path };
  if (said === 'free') return { ...calls, free: true };
  if (said === 'deny' || said === 'deny 404') return { ...calls, deny: 404 };
  if (said === 'deny 403') return { ...calls, deny: 403 };
  return { ...calls, price: pricesArgument(flag, said) };
}

const WINDOWS: Readonly<Record<string, string>> = { hour: 'hour', day: 'day', month: 'month', '24h': 'day' };

/** Free calls as people write them: `100/day`; null for `none`. */
export function freeCallsArgument(
  flag: string,
  text: string,
): { readonly count: number; readonly window: string } | null {
  if (text === 'none') return null;
  const [, count, window = ''] = /^(\d{1,7})\/(hour|day|month|24h)$/.exec(text.trim()) ?? [];
  if (count === undefined)
    throw new UsageError(`${flag} must be as in "100/day" (or hour, month), or "none", not "${text}"`);
  return { count: Number(count), window: WINDOWS[window] ?? window };
}
