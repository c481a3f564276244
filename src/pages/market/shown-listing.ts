import { readDuration } from '../../lib/duration.js';
import type { NetworkId } from '../../protocol/types.js';
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

/** All prices of a listing, in the seller's order. */
export function listedPrices({ pricing }: ShownListing): readonly MarketPrice[] {
  return [pricing, ...pricing.offers];
}

/** A price for people: `0.01 USDC`. */
export function priceOf({ amount, token }: Pick<MarketPrice, 'amount' | 'token'>): string {
  return `${amount} ${token}`;
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
      credit: cost === null ? undefined : { amount: `${amount} ${token}`, cost: `${cost} ${token}`, isStream: false },
    },
    texts,
  );
}
