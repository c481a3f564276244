import { UsageError } from '../command.js';
import { priceArgument } from './price-argument.js';

/** A route as an endpoint of projects takes it. */
export interface RouteArgument {
  readonly method?: string;
  readonly path: string;
  readonly price?: PricesArgument;
  readonly free?: true;
  readonly deny?: 403 | 404;
}

/** A price as an endpoint of projects takes it, in one token or in several. */
export interface PricesArgument {
  readonly amount: string;
  readonly token: string;
  readonly prices?: readonly { readonly amount: string; readonly token: string }[];
}

/** A price in one token or in several: `0.01 USDC`, `0.01 USDC or 0.01 PYUSD`. */
export function pricesArgument(flag: string, text: string): PricesArgument {
  const [first = '', ...others] = text.split(' or ').map((it) => it.trim());
  const prices = others.map((it) => priceArgument(flag, it));
  return { ...priceArgument(flag, first), ...(prices.length === 0 ? {} : { prices }) };
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
