import { badOption } from '../errors.js';

/**
 * A decimal number as text, in units of its last digit: `('1.5', 6)` is 1,500,000.
 *
 * @param where - the function the text was given to, for the error
 * @throws TollhouseError `bad_option` for anything but digits with at most `decimals` of them behind the point
 */
export function parseDecimal(text: string, decimals: number, where: string): bigint {
  const match = typeof text === 'string' ? /^(\d{1,20})(?:\.(\d+))?$/.exec(text) : null;
  const [, whole = '', fraction = ''] = match ?? [];
  if (match === null || fraction.length > decimals) {
    const detail = `expected a decimal number as text with at most ${decimals} decimals, got ${JSON.stringify(text)}`;
    throw badOption(where, detail);
  }
  return BigInt(whole + fraction.padEnd(decimals, '0'));
}
