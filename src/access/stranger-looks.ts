import { TollhouseError } from '../errors/errors.js';
import type { Holding, LookFurther } from '../facilitator/holdings/holding.js';
import { boundedCache } from '../lib/bounded-cache.js';
import { withAmountJson } from '../protocol/money/amount-json.js';
import { createLookPlaces } from './look-places.js';

/** Bounds of {@link createStrangerLooks}. */
export interface StrangerLooksOptions {
  /** Looks a second in the long run; four times as many may come at once. */
  readonly perSecond: number;
  /** Clock in milliseconds, never going back. */
  readonly now: () => number;
}

/** What a gate asks of the chain. */
export interface GateLook {
  /** The same for the same wallet and the same thing to hold. */
  readonly key: string;
  /** What names the client's address. Default: not known, and no address has a share. */
  readonly client?: string | undefined;
  /** From how much on a wallet is no stranger; atomic units or NFTs. Default: whatever it holds counts. */
  readonly countsFrom?: bigint | undefined;
  ask(lookFurther: LookFurther | undefined): Promise<Holding>;
}

/** Looks of gates, of which those at strangers are few. Rejects with `chain_unavailable` where a stranger is not looked at. */
export type StrangerLooks = (look: GateLook) => Promise<Holding>;

/** Looks a second, unless an option says otherwise: half of what the smallest plans of nodes allow, for the rest is for payments. */
export const STRANGER_LOOKS_PER_SECOND = 5;
/** For so long a look counts, and for as long as it takes. */
const WINDOW_MS = 4_000;
const MAX_SEEN = 50_000;
/** For so long what a wallet was found to hold counts where it is not looked at. */
const FOUND_MS = 600_000;

/** What is known of a wallet. */
interface Seen {
  /** At least so much it was last seen holding. */
  readonly atLeast: bigint;
  /** All that it held, and when that was looked at. */
  readonly found?: { readonly amount: bigint; readonly at: number } | undefined;
}

/**
 * Has a wallet looked at by calls of its own only so often while it is a stranger: one that shows less than counts where it is looked at
 * first, and was not seen holding that much. Wallets cost nothing, dust in them next to nothing, and calls to the chain are rationed. An
 * address and the networks around it have shares, see `AddressShares`. Who holds enough, or has when he came before, is never refused;
 * who was found to hold too little lately is answered that, and others are told to come again.
 */
export function createStrangerLooks({ perSecond, now }: StrangerLooksOptions): StrangerLooks {
  const seen = boundedCache<string, Seen>({ max: MAX_SEEN });
  const places = createLookPlaces({ perSecond, windowMs: WINDOW_MS, now });

  return async ({ key, client, countsFrom = 1n, ask }) => {
    const before = seen.peek(key);
    const at = now();
    let isLooked = true;
    const lookFurther: LookFurther = async (look, shown) => {
      if (shown >= countsFrom) return look();
      const leave = places.enter(client);
      if (leave !== undefined) return look().finally(leave);
      const found = before?.found;
      if (found === undefined || at - found.at >= FOUND_MS) throw tooMany();
      isLooked = false;
      return withAmountJson({ amount: larger(found.amount, shown), exact: true });
    };
    const isHolder = before !== undefined && before.atLeast >= countsFrom;
    const holding = await ask(isHolder ? undefined : lookFurther);
    if (isLooked) seen.set(key, seenAfter(before, holding, at));
    return holding;
  };
}

/** What was not looked at all over says nothing against what was seen before. */
function seenAfter(before: Seen | undefined, { amount, exact }: Holding, at: number): Seen {
  if (exact) return { atLeast: amount, found: { amount, at } };
  return { atLeast: larger(amount, before?.atLeast ?? 0n), found: before?.found };
}

function larger(one: bigint, other: bigint): bigint {
  return one < other ? other : one;
}

function tooMany(): TollhouseError {
  const retryAfterSeconds = WINDOW_MS / 1_000;
  const detail = `Too many wallets that show less than is asked for here have come at the moment, from this address or from all. This one was not looked at further; send the same request again in ${retryAfterSeconds} seconds.`;
  return new TollhouseError('chain_unavailable', detail, { retryAfterSeconds });
}
