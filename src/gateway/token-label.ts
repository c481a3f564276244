/** How a token is shown. */
export interface TokenLabel {
  /** Symbol; the mint where it has none that is known. */
  readonly symbol: string;
  /** Decimal places of one unit. */
  readonly decimals: number;
}

/** Tells how a mint's token is shown; asked once for each answer and mint. */
export type DescribeToken = (mint: string) => Promise<TokenLabel>;

/** The labels of some mints, each asked for once. */
export async function labelsOf(
  mints: Iterable<string>,
  describeToken: DescribeToken,
): Promise<ReadonlyMap<string, TokenLabel>> {
  const each = [...new Set(mints)].map(async (mint) => [mint, await describeToken(mint)] as const);
  return new Map(await Promise.all(each));
}
