import { moneyOf } from '../../protocol/networks/tokens.js';
import type { OpenPasses } from '../../storage/books/pass-figures.js';

/** What a project has sold and not served yet. */
export interface PassesOwed {
  /** Passes that are good still. */
  readonly open: number;
  /** What of their prices is not served: atomic units by mint. */
  readonly owed: ReadonlyMap<string, bigint>;
  /** When the first and the last of those end that do so by themselves, milliseconds since the epoch; missing where none does. */
  readonly ends?: { readonly first: number; readonly last: number };
}

/**
 * What is owed to those who have bought passes: of credit what is left of it, of uses and of a time their share of the price,
 * rounded up.
 */
export function passesOwed(passes: readonly OpenPasses[]): PassesOwed {
  const owed = new Map<string, bigint>();
  for (const it of passes) {
    const mint = moneyOf(it.price.mint);
    owed.set(mint, (owed.get(mint) ?? 0n) + owedBy(it));
  }
  const ends = passes.flatMap((it) => it.ends ?? []);
  const open = passes.reduce((sum, { count }) => sum + count, 0);
  if (ends.length === 0) return { open, owed };
  const first = Math.min(...ends.map((it) => it.first));
  return { open, owed, ends: { first, last: Math.max(...ends.map((it) => it.last)) } };
}

/** Uses are rounded for each pass by itself, which has as many of them left as the others. */
function owedBy({ kind, price: { amount }, count, bought, left }: OpenPasses): bigint {
  const passes = kind === 'uses' ? BigInt(count) : 1n;
  return passes * roundedUp(amount * (left / passes), bought);
}

function roundedUp(part: bigint, whole: bigint): bigint {
  return (part + whole - 1n) / whole;
}
