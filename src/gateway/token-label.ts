import { moneyOf } from '../protocol/networks/tokens.js';
import type { Token } from '../protocol/types.js';

/** How a token is shown. */
export interface TokenLabel {
  /** Symbol, which names one money in each response; the mint where it has none that is known. */
  readonly symbol: string;
  /** Decimal places of one unit. */
  readonly decimals: number;
}

/** Tells how a mint's token is shown; asked once for each response and mint. */
export type DescribeToken = (mint: string) => Promise<TokenLabel>;

/**
 * How a token is shown among the known ones, in the order in which they are known: a symbol belongs to the first that has
 * it, and the others show their mint beside it.
 */
export function labelOf({ symbol, mint, decimals }: Token, known: readonly Token[]): TokenLabel {
  const first = known.find((it) => it.symbol === symbol)?.mint ?? mint;
  return { symbol: moneyOf(first) === moneyOf(mint) ? symbol : distinct(symbol, mint), decimals };
}

/**
 * The labels of some mints, each asked for once. Figures are shown by symbol: of two moneys with the same one the second shows
 * its mint as well, or it would take the place of the first.
 */
export async function labelsOf(
  mints: Iterable<string>,
  describeToken: DescribeToken,
): Promise<ReadonlyMap<string, TokenLabel>> {
  const each = [...new Set(mints)].map(async (mint) => [mint, await describeToken(mint)] as const);
  const owners = new Map<string, string>();
  const labels = (await Promise.all(each)).map(([mint, label]) => {
    const owner = owners.get(label.symbol) ?? moneyOf(mint);
    owners.set(label.symbol, owner);
    return [mint, owner === moneyOf(mint) ? label : { ...label, symbol: distinct(label.symbol, mint) }] as const;
  });
  return new Map(labels);
}

function distinct(symbol: string, mint: string): string {
  return `${symbol} (${mint})`;
}
