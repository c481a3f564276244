import { badOption } from '../errors/errors.js';
import { boundedCache } from '../lib/bounded-cache.js';
import { type MaybePromise, whenKnown } from '../lib/maybe-promise.js';
import { type Parsed, parsed } from '../lib/parsed.js';
import type { AddressInput } from '../protocol/address-input.js';
import { formatAmount, parseDecimal } from '../protocol/money/money.js';
import type { Lookups } from './holdings.js';

/** A minimum as it is written: decimal digits with at most one point, or a number, read through its shortest decimal text. */
export type BalanceInput = string | number;

/** What is held, and how much of it. */
export interface HeldBalance {
  /** The token: a mint, base58 or web3.js `PublicKey`, or the symbol of a known token. `SOL` counts lamports and wrapped SOL. */
  readonly mint?: AddressInput | undefined;
  /**
   * Instead of `mint`, a collection of NFTs: its mints, at most 100,000; or `{ creator }`, a creator that the metadata of its NFTs
   * names and that has verified it; or `{ address }`, the mint of the collection's own NFT, likewise verified (Metaplex Token
   * Metadata). Addresses base58 or `PublicKey`. What metadata says is believed for an hour.
   */
  readonly collection?:
    | readonly AddressInput[]
    | { readonly creator: AddressInput }
    | { readonly address: AddressInput }
    | undefined;
  /**
   * How much the wallet must hold at least, in whole tokens, as decimal text or number. Of a collection: of how many of its mints
   * at least one whole token, so that several of one mint count once; default 1. Whole tokens are counted in the mint's own units by
   * its decimals; of a Token-2022 mint with a multiplier or interest, wallets may show another number.
   */
  readonly minBalance?: BalanceInput | undefined;
}

/** A minimum whose token's decimals need not be known yet. */
export interface Minimum {
  /** Shortest exact decimal text. */
  readonly text: string;
  /** Decimal places that the text has. */
  readonly places: number;
}

const MAX_PLACES = 18;
/** A gate asks for the same one with every request. */
const minimums = boundedCache<string, bigint>({ max: 1_000 });

/** Reads a minimum without knowing its token: at most 18 decimal places, at most what a token account can hold. */
export function readMinimum(input: BalanceInput): Parsed<Minimum> {
  let reading = parseDecimal(input, 0);
  let places = 0;
  while (!reading.ok && places < MAX_PLACES) {
    places += 1;
    reading = parseDecimal(input, places);
  }
  return reading.ok ? parsed({ text: formatAmount(reading.value, places), places }) : reading;
}

/**
 * Reads a minimum that was given as an option; see {@link readMinimum}.
 * @throws TollhouseError `bad_option`
 */
export function minimumOption(where: string, param: string, input: BalanceInput): Minimum {
  const minimum = readMinimum(input);
  if (minimum.ok) return minimum.value;
  throw badOption(where, `option "${param}" must be a decimal amount: ${minimum.detail}`, param);
}

/**
 * A minimum in atomic units of its token.
 * @param text - decimal text, as {@link readMinimum} returns it
 * @throws TollhouseError `bad_option` when it has more decimal places than the token
 */
export function atomicMinimum(where: string, text: string, decimals: number): bigint {
  const key = `${decimals} ${text}`;
  const known = minimums.get(key);
  if (known !== undefined) return known;
  const amount = parseDecimal(text, decimals);
  if (!amount.ok) throw badOption(where, amount.detail);
  minimums.set(key, amount.value);
  return amount.value;
}

/**
 * Decimal places of a configured mint.
 * @throws TollhouseError `bad_option` when there is no mint at the address; `chain_unavailable`
 */
export function decimalsOf(where: string, mint: string, reader: Pick<Lookups, 'readMint'>): MaybePromise<number> {
  return whenKnown(reader.readMint(mint), (facts) => {
    if (facts !== undefined) return facts.decimals;
    throw badOption(where, `there is no mint at ${mint} on this network; check the address and the network`, 'mint');
  });
}

/** An amount as a number of whole tokens, for the wire: exact where a double can hold it, else the nearest. */
export function wireNumber(amount: bigint, decimals: number): number {
  return Number(formatAmount(amount, decimals));
}
