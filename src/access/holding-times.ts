import { z } from 'zod';
import { TollhouseError } from '../errors/errors.js';
import type { Facilitator } from '../facilitator/types.js';
import { boundedCache } from '../lib/bounded-cache.js';
import type { MaybePromise } from '../lib/maybe-promise.js';
import { resolveOptions } from '../lib/options.js';
import type { HeldTimes } from '../storage/held/held-times.js';

/** What must be held without a break, and for how long. */
export interface HeldRule {
  /** The same for the same thing to hold, in every process. */
  readonly name: string;
  /** Milliseconds. */
  readonly heldForMs: number;
  /** Whether a wallet holds it now, as the chain says and not as it is remembered. Rejects with `chain_unavailable`. */
  holds(wallet: string): MaybePromise<boolean>;
}

/** Options of {@link createHoldingTimes}. */
export interface HoldingTimesOptions {
  /** Where the times are kept: `heldTimes` of the facilitator or of `openStorage`. */
  readonly store: HeldTimes;
  /** Clock, milliseconds since the epoch. Default `Date.now`. */
  readonly now?: (() => number) | undefined;
}

/**
 * Since when wallets have been seen holding something: when they come, and by looks at those that have come, at moments that nobody
 * can foresee, so that a token which is passed around is seen to be missing.
 */
export interface HoldingTimes {
  /** Has the wallets of a rule looked at from now on. */
  watch(rule: HeldRule): void;
  /** For how long a wallet that holds it now has been seen holding it, in milliseconds. */
  heldMs(rule: HeldRule, wallet: string): MaybePromise<number>;
  /** Notes that a wallet does not hold it. */
  lost(rule: HeldRule, wallet: string): Promise<void>;
  /** Looks at the wallets that are due. Gates on a facilitator have it done from time to time; call it where processes do not last. */
  look(): Promise<void>;
  /** When to look next, in milliseconds: by chance, on average the shortest interval of all rules. */
  nextLookMs(): number;
}

/** Looks at a wallet while it waits. */
const LOOKS = 24;
const LONGEST_INTERVAL_MS = 3_600_000;
/** A part of the time in which nobody needs to see a wallet: an outage shorter than that costs no member its time. */
const GAP_SHARE = 4;
/** Where many wait, it takes a while until it is a wallet's turn. */
const SHORTEST_GAP_MS = 40_000;
/** Each look asks the chain. */
const MOST_PER_MINUTE = 1_000;
const MINUTE_MS = 60_000;
const AT_ONCE = 20;
const MAX_NOTED = 10_000;

const holdingTimesOptions = z.strictObject({
  store: z.custom<HeldTimes>(
    (it) => typeof Reflect.get(Object(it), 'takeDue') === 'function',
    '"heldTimes" of a facilitator or of openStorage',
  ),
  now: z
    .custom<() => number>((it) => typeof it === 'function', 'a function that answers milliseconds')
    .default(() => Date.now),
});

/**
 * Makes the times of wallets, over a store.
 * @throws TollhouseError `bad_option` when an option is wrong
 */
export function createHoldingTimes(options: HoldingTimesOptions): HoldingTimes {
  const { store, now } = resolveOptions('createHoldingTimes', holdingTimesOptions, options);
  const rules = new Map<string, HeldRule>();
  const noted = boundedCache<string, { readonly since: number; readonly at: number }>({ max: MAX_NOTED });

  const shortestInterval = () => Math.min(LONGEST_INTERVAL_MS, ...[...rules.values()].map(intervalOf));

  async function see({ name: rule, heldForMs }: HeldRule, wallet: string): Promise<number> {
    const at = now();
    const since = await store.seen({ rule, wallet, at, gapMs: gapOf(heldForMs) });
    noted.set(`${rule} ${wallet}`, { since, at });
    return at - since;
  }

  async function lost({ name }: HeldRule, wallet: string): Promise<void> {
    noted.delete(`${name} ${wallet}`);
    await store.lost(name, wallet);
  }

  async function lookAt(rule: HeldRule, wallet: string): Promise<void> {
    try {
      if (await rule.holds(wallet)) await see(rule, wallet);
      else await lost(rule, wallet);
    } catch (error) {
      // Who cannot be looked at for the chain's sake is looked at another time.
      if (!(error instanceof TollhouseError) || error.status !== 503) await lost(rule, wallet);
    }
  }

  return {
    watch: (rule) => void rules.set(rule.name, rule),
    heldMs(rule, wallet) {
      const known = noted.get(`${rule.name} ${wallet}`);
      const time = now();
      const isLate = known !== undefined && time - known.at < intervalOf(rule) / GAP_SHARE;
      return isLate ? time - known.since : see(rule, wallet);
    },
    lost,
    async look() {
      const most = Math.ceil(MOST_PER_MINUTE * Math.min(1, shortestInterval() / MINUTE_MS));
      for (const rule of rules.values()) {
        const time = now();
        const due = await store.takeDue(rule.name, time - intervalOf(rule) / 2, time, most);
        for (let from = 0; from < due.length; from += AT_ONCE) {
          await Promise.all(due.slice(from, from + AT_ONCE).map((wallet) => lookAt(rule, wallet)));
        }
      }
    },
    nextLookMs: () => shortestInterval() * (0.5 + Math.random()),
  };
}

const shared = new WeakMap<Facilitator, HoldingTimes>();

/** The times that all gates on a facilitator share, kept where it keeps them, and looked after until it is closed. */
export function holdingTimesOf(facilitator: Facilitator): HoldingTimes {
  const known = shared.get(facilitator);
  if (known !== undefined) return known;
  const times = createHoldingTimes({ store: facilitator.heldTimes });
  shared.set(facilitator, times);
  lookFromTimeToTime(times, facilitator.closing);
  return times;
}

/** Keeps no process alive. */
function lookFromTimeToTime(times: HoldingTimes, closing: AbortSignal | undefined): void {
  let timer: NodeJS.Timeout | undefined;
  function wait(): void {
    if (closing?.aborted) return;
    timer = setTimeout(() => void times.look().catch(toldAtGates).finally(wait), times.nextLookMs()).unref();
  }
  closing?.addEventListener('abort', () => clearTimeout(timer), { once: true });
  // The rule that this is for is watched in a moment.
  setImmediate(wait).unref();
}

/** A store that cannot be reached is told to those who come to a gate. */
function toldAtGates(): void {}

function intervalOf({ heldForMs }: HeldRule): number {
  return Math.min(heldForMs / LOOKS, LONGEST_INTERVAL_MS);
}

function gapOf(heldForMs: number): number {
  return Math.max(heldForMs / GAP_SHARE, SHORTEST_GAP_MS);
}
