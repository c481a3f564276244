import { readDuration } from '../../lib/duration.js';
import type { NetworkId } from '../../protocol/types.js';
import { priceIn, priceRangeIn } from '../texts/amounts.js';
import { boughtInWords } from '../texts/bought.js';
import type { PageTexts } from '../texts/page-texts.js';

/** What a payment of some money buys, as the marketplace tells it. */
export interface MarketPrice {
  readonly amount: string;
  readonly amount_atomic: string;
  readonly token: string;
  readonly mint: string;
  /** Null: one call. */
  readonly pass: {
    readonly uses: number | null;
    /** Such as `30d`. */
    readonly for: string | null;
    readonly cost: string | null;
    readonly group: string | null;
  } | null;
}

/** What calls of a path cost. */
export interface ShownRoute {
  /** Null: every method. */
  readonly method: string | null;
  readonly path: string;
  /** Null: it is free. */
  readonly price: ShownPrices | null;
}

/** All that may be paid for some calls. */
export interface ShownPrices extends MarketPrice {
  /** What one call costs in other tokens. */
  readonly prices: readonly Omit<MarketPrice, 'pass'>[];
  readonly offers: readonly MarketPrice[];
}

/** A listing as `GET /api/v1/marketplace` answers it. */
export interface ShownListing {
  readonly slug: string;
  /** Where it is called. */
  readonly url: string;
  readonly name: string;
  readonly description: string | null;
  readonly tags: readonly string[];
  readonly owner: string;
  /** `down`: its upstream does not answer. */
  readonly status: 'active' | 'down';
  readonly pricing: ShownPrices & { readonly network: NetworkId };
  /** Between what the prices of its routes lie, in the token of `pricing`. */
  readonly price_range: { readonly from: string; readonly to: string };
  readonly has_free_routes: boolean;
  /** What each key has without paying. */
  readonly free_calls: { readonly count: number; readonly window: 'hour' | 'day' | 'month' } | null;
  readonly calls: number;
  readonly success_rate: number | null;
  readonly p95_ms: number | null;
  readonly example: {
    readonly method: string;
    readonly url: string;
    readonly body: unknown;
    /** Null where it is free, or not for sale. */
    readonly pricing: ShownPrices | null;
    /** As a command for a shell. */
    readonly curl: string;
  };
  /** ISO 8601. */
  readonly created_at: string;
}

/** All prices of some calls, in the seller's order. */
export function allPrices({ prices, offers, ...first }: ShownPrices): readonly MarketPrice[] {
  return [first, ...prices.map((it) => ({ ...it, pass: null })), ...offers];
}

/** What a listing costs, for people: `0.01 USDC`, or `0.001–0.05 USDC` where its routes have other prices. */
export function rangeOf({ pricing, price_range: range }: ShownListing, language: string): string {
  return range.from === range.to ? priceIn(language, pricing) : priceRangeIn(language, range, pricing.token);
}

/** What a price buys, for people: `100 requests`. */
export function buysOf({ amount, token, pass }: MarketPrice, texts: PageTexts): string {
  if (pass === null) return texts.buysOne;
  const { uses, for: time, cost, group } = pass;
  const read = time === null ? undefined : readDuration(time);
  return boughtInWords(
    {
      uses: uses ?? undefined,
      group: group ?? undefined,
      forMs: read?.ok ? read.value : undefined,
      credit: cost === null ? undefined : { amount: { amount, token }, cost: { amount: cost, token }, isStream: false },
    },
    texts,
  );
}
