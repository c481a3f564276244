import { randomBytes } from 'node:crypto';

// Not to be guessed, or a memo could smuggle a number in where its text belongs.
const MARK = `bigint:${randomBytes(12).toString('hex')}:`;
const MARKED = new RegExp(`"${MARK}(-?\\d+)"`, 'g');

/**
 * JSON text in which every bigint is a number literal with all its digits, as Solana's own nodes write lamports and
 * epochs. `JSON.stringify` refuses bigints, and `Number` would round those above 2^53.
 */
export function toJson(value: unknown): string {
  const text = JSON.stringify(value, (_key, item: unknown) => (typeof item === 'bigint' ? `${MARK}${item}` : item));
  return text.replace(MARKED, '$1');
}
