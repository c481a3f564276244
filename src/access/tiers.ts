import { z } from 'zod';
import { badOption } from '../errors/errors.js';
import { resolveOptions } from '../lib/options.js';
import { type AddressInput, addressTextOption } from '../protocol/address-input.js';
import { parseDecimal } from '../protocol/money/money.js';
import type { Token } from '../protocol/types.js';
import { atomicMinimum, type BalanceInput, type Minimum, minimumOption } from './balance.js';
import { mintOption } from './mint.js';

/** A membership tier as it is configured. */
export interface TierOptions {
  /** Name for programs: lower-case letters, digits, `_` and `-`. */
  readonly id: string;
  /** Name for people. Default: the id with a capital. */
  readonly name?: string | undefined;
  /** Whole tokens that reach the tier, as decimal text or number. */
  readonly minBalance: BalanceInput;
  /** What the tier brings beside everything that the tiers below it bring. Default: nothing. */
  readonly features?: readonly string[] | undefined;
}

/** Membership tiers as they are configured. */
export interface TiersOptions {
  /** Token whose balance decides: mint, base58 or web3.js `PublicKey`, or the symbol of a known token. Default `USDC`. */
  readonly mint?: AddressInput | undefined;
  /** From the lowest to the highest. Default: `bronze` from 100, `silver` from 1,000, `gold` from 10,000. */
  readonly levels?: readonly TierOptions[] | undefined;
}

/** A membership tier. */
export interface Tier {
  readonly id: string;
  readonly name: string;
  /** Whole tokens that reach the tier, exact decimal text. */
  readonly minBalance: string;
  /** Those of the tiers below it included. */
  readonly features: readonly string[];
}

/** Membership tiers of one token. */
export interface Tiers {
  /** Base58. */
  readonly mint: string;
  /** From the lowest to the highest, at least one. */
  readonly levels: readonly Tier[];
}

/** Where a balance stands among the tiers. */
export interface Standing {
  /** The highest tier that it reaches. */
  readonly tier: Tier | undefined;
  /** The next tier above it. */
  readonly next: Tier | undefined;
  /** Atomic units that are missing for that; 0 at the top. */
  readonly missing: bigint;
}

const DEFAULT_LEVELS: readonly TierOptions[] = [
  { id: 'bronze', minBalance: 100, features: ['basic_access'] },
  { id: 'silver', minBalance: 1_000, features: ['premium_content'] },
  { id: 'gold', minBalance: 10_000, features: ['api_access'] },
];
const DEFAULT_TOKEN = 'USDC';
const MAX_LEVELS = 50;
const MAX_FEATURES = 100;

const text = (what: string) => z.string(what).min(1, what).max(200, `${what} of at most 200 characters`);

const levelOptions = z.strictObject({
  id: z.string('a text').regex(/^[a-z0-9][a-z0-9_-]{0,39}$/, '1 to 40 lower-case letters, digits, "_" or "-"'),
  name: text('a name').optional(),
  minBalance: z.union([z.string(), z.number()], 'a decimal amount, such as 100 or "0.5"'),
  features: z.array(text('a name'), 'a list of names').max(MAX_FEATURES, `at most ${MAX_FEATURES} names`).default([]),
});

const tiersOptions = z.strictObject({
  mint: addressTextOption('the address of a mint, or a symbol').prefault(DEFAULT_TOKEN),
  levels: z
    .array(z.custom<TierOptions>(), 'a list of tiers')
    .min(1, 'at least one tier')
    .max(MAX_LEVELS, `at most ${MAX_LEVELS} tiers`)
    .default([...DEFAULT_LEVELS]),
});

/**
 * Reads a configuration of tiers.
 * @param where - the function that was given it, for messages
 * @param tokens - tokens that can be named by symbol
 * @throws TollhouseError `bad_option` for unknown or wrong fields, ids that occur twice, minimums that do not rise
 */
export function readTiers(where: string, options: TiersOptions | undefined, tokens: readonly Token[]): Tiers {
  const resolved = resolveOptions(`${where}: "tiers"`, tiersOptions, options);
  const mint = mintOption(`${where}: "tiers"`, 'mint', resolved.mint, tokens);
  const read = resolved.levels.map((level, index) => readLevel(`${where}: "tiers.levels[${index}]"`, level));
  checkRise(where, read);
  const known = tokens.find((token) => token.mint === mint);
  if (known !== undefined) for (const { tier } of read) minimumOf(where, tier, known.decimals);
  const levels = read.map(({ tier }, index) => {
    const features = new Set(read.slice(0, index + 1).flatMap((level) => level.tier.features));
    return Object.freeze({ ...tier, features: Object.freeze([...features]) });
  });
  return Object.freeze({ mint, levels: Object.freeze(levels) });
}

/** Minimums that were worked out: a gate asks for several of them with every request. */
const minimums = new WeakMap<Tier, { readonly decimals: number; readonly least: bigint }>();

/** The least balance of a tier in atomic units of its token; see {@link atomicMinimum}. */
export function minimumOf(where: string, tier: Tier, decimals: number): bigint {
  const known = minimums.get(tier);
  if (known?.decimals === decimals) return known.least;
  const least = atomicMinimum(where, tier.minBalance, decimals);
  minimums.set(tier, { decimals, least });
  return least;
}

/**
 * Where a balance stands.
 * @param amount - atomic units
 * @throws TollhouseError `bad_option` when a minimum has more decimal places than the token
 */
export function standingOf(where: string, { levels }: Tiers, amount: bigint, decimals: number): Standing {
  const least = levels.map((tier) => minimumOf(where, tier, decimals));
  const missed = least.findIndex((minimum) => amount < minimum);
  const reached = missed === -1 ? least.length : missed;
  return { tier: levels[reached - 1], next: levels[reached], missing: (least[reached] ?? amount) - amount };
}

interface Level {
  readonly tier: Tier;
  readonly minimum: Minimum;
}

function readLevel(where: string, options: TierOptions): Level {
  const { id, name, minBalance, features } = resolveOptions(where, levelOptions, options);
  const minimum = minimumOption(where, 'minBalance', minBalance);
  const shownName = name ?? `${id.charAt(0).toUpperCase()}${id.slice(1)}`;
  return { tier: { id, name: shownName, minBalance: minimum.text, features }, minimum };
}

function checkRise(where: string, levels: readonly Level[]): void {
  const places = Math.max(...levels.map(({ minimum }) => minimum.places));
  const ids = new Set<string>();
  let previous = -1n;
  for (const { tier, minimum } of levels) {
    if (ids.has(tier.id)) throw badOption(where, `"tiers" has two levels with the id "${tier.id}"`, 'tiers');
    ids.add(tier.id);
    const amount = parseDecimal(minimum.text, places);
    if (!amount.ok) throw badOption(where, `"tiers": ${amount.detail}`, 'tiers');
    if (amount.value <= previous) {
      const detail = `"tiers" must rise: the minBalance of "${tier.id}" is not above that of the level before it`;
      throw badOption(where, detail, 'tiers');
    }
    previous = amount.value;
  }
}
