import { z } from 'zod';
import { TollhouseError } from '../../errors/errors.js';

const MAX_LIMIT = 100;
const DEFAULT_LIMIT = 20;
const MAX_CURSOR_LENGTH = 512;

/** Query parameters that every list takes. */
export const pageQuery = {
  limit: z.coerce
    .number('must be a number')
    .int('must be a whole number')
    .min(1, 'must be at least 1')
    .max(MAX_LIMIT, `must be at most ${MAX_LIMIT}`)
    .default(DEFAULT_LIMIT)
    .describe('How many are answered.'),
  cursor: z
    .string('must be a text')
    .max(MAX_CURSOR_LENGTH, `must have at most ${MAX_CURSOR_LENGTH} characters`)
    .optional()
    .describe('Where to go on: `next_cursor` of the answer before.'),
};

/** A list as clients see it. */
export interface ListResponse<T> {
  readonly object: 'list';
  readonly data: readonly T[];
  readonly has_more: boolean;
  /** Null at the end. */
  readonly next_cursor: string | null;
}

/** The schema of a list of such items. */
export function listResponseOf<S extends z.ZodType>(item: S) {
  return z.object({
    object: z.literal('list'),
    data: z.array(item),
    has_more: z.boolean(),
    next_cursor: z.string().nullable().describe('For the query parameter `cursor`; null at the end.'),
  });
}

/** What a cursor holds: the values by which a list is ordered, of the last item that was answered. */
export type CursorKey = readonly (string | number)[];

/**
 * One page of a list.
 *
 * @param found - one item more than `limit`, if there are so many: whether there is one says whether there is a next page
 * @param keyOf - the key after which the next page begins
 * @param show - an item as clients see it
 */
export function listResponse<T, V>(
  found: readonly T[],
  limit: number,
  keyOf: (item: T) => CursorKey,
  show: (item: T) => V,
): ListResponse<V> {
  const page = found.slice(0, limit);
  const last = page.at(-1);
  const hasMore = found.length > limit && last !== undefined;
  return {
    object: 'list',
    data: page.map(show),
    has_more: hasMore,
    next_cursor: hasMore ? encodeCursor(keyOf(last)) : null,
  };
}

/** A key as clients get it: opaque, and good in an address as it is. */
export function encodeCursor(key: CursorKey): string {
  return Buffer.from(JSON.stringify(key)).toString('base64url');
}

/**
 * The key in a cursor that a client sent; undefined where it sent none.
 * @param schema - of the key, a tuple
 * @throws TollhouseError `validation_failed` for a text that is no cursor of this list
 */
export function readCursor<S extends z.ZodType>(cursor: string | undefined, schema: S): z.output<S> | undefined {
  if (cursor === undefined) return undefined;
  const result = schema.safeParse(parsed(cursor));
  if (result.success) return result.data;
  const detail = 'must be `next_cursor` of an answer of this list';
  const errors = [{ pointer: '/cursor', code: 'custom', detail }];
  throw new TollhouseError('validation_failed', `The request is not valid. /cursor: ${detail}.`, {
    param: 'cursor',
    errors,
  });
}

function parsed(cursor: string): unknown {
  try {
    return JSON.parse(Buffer.from(cursor, 'base64url').toString());
  } catch {
    return undefined;
  }
}
