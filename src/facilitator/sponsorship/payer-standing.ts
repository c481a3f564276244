import { type MaybePromise, whenKnown } from '../../lib/maybe-promise.js';
import type { Refusal } from '../../protocol/types.js';
import type { Counters } from '../../storage/counters/counters.js';
import { createMemoryCounters } from '../../storage/counters/memory-counters.js';

/**
 * Makes payers wait whose transactions landed and failed: that costs us a fee and them nothing. A minute after the first
 * failure, twice as long after each further one, an hour at most; it is forgotten six hours after the first.
 */
export interface PayerStanding {
  /**
   * Why nothing is paid for at the moment; undefined while it is.
   * @param addresses - the wallet and the accounts that it pays from, base58
   */
  refusal(addresses: readonly string[]): MaybePromise<Omit<Refusal, 'payer'> | undefined>;
  /** A transaction of theirs landed with an error. In this process it is known at once. Never rejects. */
  failed(addresses: readonly string[]): Promise<void>;
}

/** What standing is kept with. */
export interface PayerStandingParts {
  /** Tells the payers of one network from those of another. */
  readonly network: string;
  /** Where it is shared with other instances. Default, and while they cannot be reached: this process's memory. */
  readonly counters: Pick<Counters, 'increment' | 'put' | 'get'> | undefined;
  /** Clock, milliseconds since the epoch. */
  readonly now: () => number;
}

const FIRST_WAIT_MS = 60_000;
const LONGEST_WAIT_MS = 3_600_000;
const MEMORY_MS = 6 * 3_600_000;

type Store = Pick<Counters, 'increment' | 'put' | 'get'>;

/** Keeps the standing of payers, with counters that may be shared. */
export function createPayerStanding({ network, counters, now }: PayerStandingParts): PayerStanding {
  const own = createMemoryCounters({ now });
  const waitKey = (address: string): string => `payer-wait:${network}:${address}`;
  /** When nobody of those waits any more who have failed here: hardly anybody does, and then there is nothing to look up. */
  let allWaitUntil = 0;

  /** Without a turn of the queue where the store has none: the next payment may be at the door already. */
  function fail(store: Store, address: string): MaybePromise<void> {
    return whenKnown(store.increment(`payer-failures:${network}:${address}`, MEMORY_MS), ({ count }) => {
      const waitMs = Math.min(FIRST_WAIT_MS * 2 ** (count - 1), LONGEST_WAIT_MS);
      const end = now() + waitMs;
      allWaitUntil = Math.max(allWaitUntil, end);
      return store.put(waitKey(address), String(end), waitMs);
    });
  }

  async function endOf(store: Store, addresses: readonly string[]): Promise<number> {
    const ends = await Promise.all(addresses.map((it) => store.get(waitKey(it))));
    return Math.max(0, ...ends.map((it) => Number(it ?? 0)));
  }

  async function restMs(addresses: readonly string[]): Promise<number> {
    const rest = allWaitUntil > now() ? (await endOf(own, addresses)) - now() : 0;
    if (rest > 0 || counters === undefined) return rest;
    // An outage of the counters must not stop payments.
    return (await endOf(counters, addresses).catch(() => 0)) - now();
  }

  return {
    refusal(addresses) {
      if (counters === undefined && allWaitUntil <= now()) return undefined;
      return restMs(addresses).then((rest) => (rest > 0 ? mustWait(rest) : undefined));
    },
    async failed(addresses) {
      const stores = counters === undefined ? [own] : [own, counters];
      await Promise.allSettled(stores.flatMap((store) => addresses.map(async (address) => fail(store, address))));
    },
  };
}

function mustWait(restMs: number): Omit<Refusal, 'payer'> {
  const message = `A transaction of this wallet landed with an error a short while ago; nothing was charged. Pay again in ${Math.ceil(restMs / 1_000)} seconds.`;
  return { reason: 'payer_must_wait', message };
}
