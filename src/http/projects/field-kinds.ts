import { z } from 'zod';

/** A text that is not empty. */
export const filledText = (max: number) =>
  z.string('must be a text').min(1, 'must not be empty').max(max, `must have at most ${max} characters`);

/** Not `toLocaleString`, whose first call loads the tables of all languages. */
const grouped = (value: number): string =>
  value < 1_000 ? String(value) : `${grouped(Math.floor(value / 1_000))},${String(value % 1_000).padStart(3, '0')}`;
/** A whole number of something within a range, which the fault names. */
export const wholeNumber = (what: string, min: number, max: number) => {
  const range = `must be ${what}, ${grouped(min)} to ${grouped(max)}`;
  return z.int(range).min(min, range).max(max, range);
};
