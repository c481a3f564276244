import type { Row } from './sql-database.js';

/** Largest number that a column holds. Sums stop at it: a worthless token with an absurd supply must break nothing. */
export const MAX_SUM = 9_223_372_036_854_775_807n;

/** An amount as it goes into a sum. */
export function summand(amount: bigint): bigint {
  return amount > MAX_SUM ? MAX_SUM : amount;
}

/** SQL that adds two columns that are not negative, and stops at {@link MAX_SUM}, where SQLite would round and Postgres fail. */
export function saturatingSum(left: string, right: string): string {
  return `case when ${left} > ${MAX_SUM} - ${right} then ${MAX_SUM} else ${left} + ${right} end`;
}

/** SQL that sums a column over rows as two numbers, for {@link exactSum}: `sum` itself overflows in SQLite. */
export function halves(column: string): string {
  return `sum(${column} >> 32) as high, sum(${column} & 4294967295) as low`;
}

/** The sum that {@link halves} asked for. */
export function exactSum({ high, low }: Row): bigint {
  return (BigInt(String(high)) << 32n) + BigInt(String(low));
}
