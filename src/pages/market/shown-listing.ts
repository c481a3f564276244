import type { NetworkId } from '../../protocol/types.js';

/** What a payment of some money buys, as the marketplace tells it. */
export interface MarketPrice {
  readonly amount: string;
  readonly token: string;
  /** In words: `100 requests`. */
  readonly buys: string;
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
  readonly pricing: MarketPrice & {
    readonly network: NetworkId;
    readonly mint: string;
    readonly amount_atomic: string;
    readonly offers: readonly MarketPrice[];
  };
  readonly calls: number;
  readonly success_rate: number | null;
  readonly p95_ms: number | null;
  readonly example: {
    readonly method: string;
    readonly url: string;
    readonly body: unknown;
    /** As a command for a shell. */
    readonly curl: string;
  };
  /** ISO 8601. */
  readonly created_at: string;
}

/** A price for people: `0.01 USDC`. */
export function priceOf({ amount, token }: MarketPrice): string {
  return `${amount} ${token}`;
}
