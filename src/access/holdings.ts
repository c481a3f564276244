import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import type { Holding, HoldingQuery, MintFacts } from '../facilitator/holdings.js';
import type { Facilitator } from '../facilitator/types.js';
import type { MaybePromise } from '../lib/maybe-promise.js';
import { resolveOptions } from '../lib/options.js';

/** Options of {@link createHoldings}. */
export interface HoldingsOptions {
  readonly facilitator: Facilitator;
  /**
   * How old a response may be, in milliseconds: so long a wallet that has given its tokens away still counts as holding them.
   * Default 15,000.
   */
  readonly staleMs?: number;
  /** Clock in milliseconds, never going back. Default `performance.now`. */
  readonly now?: () => number;
}

/**
 * What wallets hold, remembered for a stated time. What is remembered is answered without a promise; the rest rejects with
 * `chain_unavailable` when the chain cannot be asked.
 */
export interface Holdings {
  /** How old a response may be, in milliseconds. */
  readonly staleMs: number;
  /** Decimals and token program of a mint; undefined when the address is none. */
  readMint(mint: string): MaybePromise<MintFacts | undefined>;
  /** What a wallet holds, over all its token accounts. */
  readHolding(query: HoldingQuery): MaybePromise<Holding>;
}

const MAX_REMEMBERED = 50_000;
const MAX_MINTS = 1_000;
const MAX_STALE_MS = 86_400_000;

const holdingsOptions = z.strictObject({
  facilitator: z.custom<Facilitator>(
    (it) => typeof Reflect.get(Object(it), 'readHolding') === 'function',
    'a facilitator, made by createFacilitator',
  ),
  staleMs: z
    .int('a whole number of milliseconds')
    .min(0, 'at least 0')
    .max(MAX_STALE_MS, `at most ${MAX_STALE_MS}`)
    .default(15_000),
  now: z.custom<() => number>((it) => typeof it === 'function', 'a function').default(() => () => performance.now()),
});

/** One look at the chain, under way or done. */
interface Look {
  readonly atLeast: bigint | undefined;
  readonly startedAt: number;
  readonly holding: Promise<Holding>;
  /** What came of it, once that is known. */
  found?: Holding;
}

/** What the chain said of a mint. */
interface KnownMint {
  readonly startedAt: number;
  readonly facts: MintFacts;
}

/**
 * Remembers what wallets hold, nothing included. One look at a wallet and mint is under way at a time; whoever asks
 * meanwhile shares it. A failed look is not remembered, and no response is ever older than `staleMs`.
 * @throws TollhouseError `bad_option` when an option is wrong
 */
export function createHoldings(options: HoldingsOptions): Holdings {
  const { facilitator, staleMs, now } = resolveOptions('createHoldings', holdingsOptions, options);
  const looks = new LRUCache<string, Look>({ max: MAX_REMEMBERED });
  const mints = new LRUCache<string, KnownMint>({ max: MAX_MINTS });
  const nameOf = createMintNames();

  function look(key: string, query: HoldingQuery): Look {
    const holding = facilitator.readHolding(query);
    const started: Look = { atLeast: query.atLeast, startedAt: now(), holding };
    looks.set(key, started);
    holding.then(
      (found) => {
        started.found = found;
      },
      () => {
        if (looks.peek(key) === started) looks.delete(key);
      },
    );
    return started;
  }

  function isFresh({ startedAt }: Look | KnownMint): boolean {
    return now() - startedAt < staleMs;
  }

  async function askForMint(mint: string): Promise<MintFacts | undefined> {
    const startedAt = now();
    const facts = await facilitator.readMint(mint);
    // An address that is no mint yet may become one.
    if (facts !== undefined) mints.set(mint, { startedAt, facts });
    return facts;
  }

  async function waitFor(key: string, query: HoldingQuery): Promise<Holding> {
    for (;;) {
      const known = looks.get(key);
      if (known === undefined || !isFresh(known)) return look(key, query).holding;
      const holding = await known.holding;
      if (suffices(holding, query)) return holding;
      // It looked for less. Whoever comes first looks again, the others share that look.
      if (looks.peek(key) === known) return look(key, query).holding;
    }
  }

  return {
    staleMs,
    readMint(mint) {
      const known = mints.get(mint);
      return known !== undefined && isFresh(known) ? known.facts : askForMint(mint);
    },
    readHolding(query) {
      const key = `${query.wallet} ${nameOf(query.mints)}`;
      const known = looks.get(key);
      const found = known?.found;
      if (known !== undefined && found !== undefined && isFresh(known) && suffices(found, query)) return found;
      return waitFor(key, query);
    },
  };
}

const shared = new WeakMap<Facilitator, Holdings>();

/** The holdings that all gates on a facilitator share unless they are given others. */
export function holdingsOf(facilitator: Facilitator): Holdings {
  const holdings = shared.get(facilitator) ?? createHoldings({ facilitator });
  shared.set(facilitator, holdings);
  return holdings;
}

function suffices({ amount, exact }: Holding, { atLeast }: HoldingQuery): boolean {
  return exact || (atLeast !== undefined && amount >= atLeast);
}

/** A short name for what may be a collection of thousands of mints: the same list has the same name. */
function createMintNames(): (mints: readonly string[]) => string {
  const numbers = new WeakMap<readonly string[], number>();
  let lists = 0;
  return (mints) => {
    const [only] = mints;
    if (mints.length === 1 && only !== undefined) return only;
    const number = numbers.get(mints) ?? lists++;
    numbers.set(mints, number);
    return `#${number}`;
  };
}
