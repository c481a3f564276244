import { isRecord } from '../../lib/parsed.js';
import { type JsonObject, stepsOf, valueAt } from './document-references.js';

/** So many path items may stand for one another. */
const MAX_DETOURS = 10;
/** Characters of JSON that path items elsewhere may stand for altogether: one of them can be named from each of a thousand paths. */
const MOST_REFERRED = 262_144;
/** About what is added to an operation when it is shown. */
const ADDED = 128;

/**
 * Reads the path items of a document: themselves, where others stand in for them. Takes time for the length of the document,
 * however often they name each other.
 * @param fields - what is read of an item
 * @returns undefined for what is none, what is not in the document, and what is too much for one answer
 */
export function pathItemReader(document: JsonObject, fields: readonly string[]) {
  const referred = new Map<JsonObject, JsonObject | undefined>();
  const sizes = new Map<unknown, number>();
  let left = MOST_REFERRED;

  function referredBy(item: JsonObject): JsonObject | undefined {
    if (!referred.has(item)) {
      const steps = stepsOf(item['$ref']);
      const found = steps && valueAt(document, steps);
      referred.set(item, isRecord(found) ? found : undefined);
    }
    return referred.get(item);
  }

  /** An item and those that it stands for, the nearest first. */
  function chainOf(item: unknown): readonly JsonObject[] | undefined {
    const chain: JsonObject[] = [];
    let found = isRecord(item) ? item : undefined;
    while (found !== undefined && chain.length <= MAX_DETOURS) {
      chain.push(found);
      if (found['$ref'] === undefined) return chain;
      found = referredBy(found);
    }
    return undefined;
  }

  function sizeOf(value: unknown): number {
    if (typeof value === 'string') return value.length;
    const size = sizes.get(value) ?? JSON.stringify(value).length;
    sizes.set(value, size);
    return size;
  }

  return (item: unknown): JsonObject | undefined => {
    const chain = chainOf(item);
    if (chain === undefined) return undefined;
    const read = fields.flatMap((name) => {
      const from = chain.find((it) => Object.hasOwn(it, name));
      return from === undefined ? [] : [{ name, value: from[name], isOwn: from === item }];
    });
    const size = read.reduce((sum, { value, isOwn }) => (isOwn ? sum : sum + ADDED + sizeOf(value)), 0);
    if (size > left) return undefined;
    left -= size;
    return Object.fromEntries(read.map(({ name, value }) => [name, value]));
  };
}
