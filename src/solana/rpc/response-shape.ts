import { isRecord } from '../../lib/parsed.js';
import { ResponseShapeError } from './response-shape-error.js';

/** A value of a response that must be an object; throws {@link ResponseShapeError}, as all of these do. */
export function record(value: unknown, name: string): Record<string, unknown> {
  if (isRecord(value)) return value;
  throw new ResponseShapeError(`${name} is not an object`);
}

/** One that must be a text. */
export function text(value: unknown, name: string): string {
  if (typeof value === 'string') return value;
  throw new ResponseShapeError(`${name} is not a text`);
}

/** One that must be a whole number, not negative. */
export function count(value: unknown, name: string): number {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value;
  throw new ResponseShapeError(`${name} is not a whole number`);
}

/** Lists of a response, each entry read; none where there is no list. */
export function listOf<T>(value: unknown, name: string, read: (entry: unknown, name: string) => T): readonly T[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw new ResponseShapeError(`${name} is not a list`);
  const entries: T[] = [];
  // A hole is an entry that is none, and `map` would pass over it; `Array.from` takes its time over an empty list.
  for (const entry of value) entries.push(read(entry, name));
  return entries;
}
