import { DOLLARS } from '../../protocol/networks/tokens.js';
import type { Token } from '../../protocol/types.js';
import type { OwedSum } from '../../storage/payouts/payout-store.js';

/** The least that a recipient is paid at once: far more than the network fee of some 0.00001 SOL. */
const LEAST_OF_A_DOLLAR = 10n;
const LEAST_OF_SOL = 1_000_000n;
/** How long what is owed of a token waits of which nobody knows the worth. */
export const UNLISTED_WAIT_MS = 86_400_000;

/** What is worth a transaction: each costs the operator its network fee. */
export interface PayoutMinimums {
  /**
   * The least that one recipient is paid of a token at once: atomic units by mint. It applies to payouts that are asked for as
   * to those that are made by themselves. Default: any amount is paid.
   */
  readonly minimums?: ReadonlyMap<string, bigint>;
  /**
   * How old what is owed of a token without a minimum must be before it is paid, in milliseconds: nobody knows what it is
   * worth. Default 0.
   */
  readonly unlistedWaitMs?: number;
}

/** Why something is not worth paying yet, and from when or from which amount on it is. */
export interface Waits {
  readonly held: 'below_minimum' | 'too_early';
  /** Atomic units. */
  readonly minimum?: bigint;
  /** Milliseconds since the epoch. */
  readonly payableFrom?: number;
}

/** What a recipient waits for; undefined when he can be paid. */
export function waitsFor(
  { mint, amount, oldestAt }: OwedSum,
  { minimums, unlistedWaitMs = 0 }: PayoutMinimums,
  time: number,
): Waits | undefined {
  const minimum = minimums?.get(mint);
  if (minimum !== undefined) return amount < minimum ? { held: 'below_minimum', minimum } : undefined;
  const payableFrom = oldestAt + unlistedWaitMs;
  return payableFrom > time ? { held: 'too_early', payableFrom } : undefined;
}

/** What is owed as it stands now: what was noted at the last attempt, and what it waits for. */
export interface OwedNow extends OwedSum, Partial<Pick<Waits, 'minimum' | 'payableFrom'>> {}

/** Adds what a sum waits for; that it was too little before, and is not now, is no reason any more. */
export function owedNow(sum: OwedSum, rules: PayoutMinimums, time: number): OwedNow {
  const { held, ...rest } = sum;
  const waits = waitsFor(sum, rules, time);
  if (waits !== undefined) return { ...rest, ...waits };
  return held === undefined || held === 'below_minimum' || held === 'too_early' ? rest : sum;
}

/** A tenth of a dollar, a thousandth of a SOL. What others are worth is not known: they are paid once a day at most. */
export function leastOf(tokens: readonly Token[]): ReadonlyMap<string, bigint> {
  const dollars = tokens.filter(({ symbol }) => DOLLARS.has(symbol));
  return new Map([
    ...dollars.map(({ mint, decimals }) => [mint, 10n ** BigInt(decimals) / LEAST_OF_A_DOLLAR] as const),
    ...tokens.filter(({ symbol }) => symbol === 'SOL').map(({ mint }) => [mint, LEAST_OF_SOL] as const),
  ]);
}
