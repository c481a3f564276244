import { readTime } from '../arguments/time-argument.js';
import { UsageError } from '../command.js';

/** Flags that leave something out of a list, by the query parameters that they become. */
export type QueryFlags = Readonly<Record<string, string | undefined>>;

const TIMES: readonly string[] = ['from', 'to'];
const MAX_LIMIT = 100;

/**
 * The query of some flags; times become those of the wire.
 * @throws UsageError for what is no time
 */
export function queryOf(flags: QueryFlags): URLSearchParams {
  const query = new URLSearchParams();
  for (const [name, text] of Object.entries(flags)) {
    if (text === undefined) continue;
    const time = TIMES.includes(name) ? readTime(`--${name}`, text) : undefined;
    query.set(name, time === undefined ? text : new Date(time).toISOString());
  }
  return query;
}

/** How many are shown: 1 to 100. */
export function readLimit(text: string): string {
  if (/^\d{1,3}$/.test(text) && Number(text) >= 1 && Number(text) <= MAX_LIMIT) return text;
  throw new UsageError(`--limit must be a number from 1 to ${MAX_LIMIT}, not "${text}"`);
}
