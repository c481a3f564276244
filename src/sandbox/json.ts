const BIG_MARK = '\u0000big:';
const BIG_LITERAL = /"\\u0000big:(-?\d+)"/g;

/**
 * JSON text in which every bigint is a number literal with all its digits, as Solana's own nodes write lamports and
 * epochs. `JSON.stringify` refuses bigints, and `Number` would round those above 2^53.
 */
export function toJson(value: unknown): string {
  const text = JSON.stringify(value, (_key, item: unknown) => (typeof item === 'bigint' ? literal(item) : item));
  return text.replace(BIG_LITERAL, '$1');
}

function literal(value: bigint): number | string {
  return value <= BigInt(Number.MAX_SAFE_INTEGER) && value >= 0n ? Number(value) : `${BIG_MARK}${value}`;
}
