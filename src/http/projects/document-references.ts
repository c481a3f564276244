import { isRecord } from '../../lib/parsed.js';
/** A part of an OpenAPI document. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** Where a local reference leads: the steps of its JSON pointer. */
export type Steps = readonly string[];

/** All objects in the items of paths: operations, where only these are left in them. */
export function operationsIn(paths: JsonObject): readonly JsonObject[] {
  return Object.values(paths).flatMap((item) => (isRecord(item) ? Object.values(item).filter(isRecord) : []));
}

/** The steps of a reference into the same document; undefined for one that leads elsewhere, or nowhere. */
export function stepsOf(reference: unknown): Steps | undefined {
  if (typeof reference !== 'string' || !reference.startsWith('#/')) return undefined;
  try {
    const steps = decodeURIComponent(reference).slice(2).split('/');
    return steps.map((it) => it.replaceAll('~1', '/').replaceAll('~0', '~'));
  } catch {
    return undefined;
  }
}

/** What stands at a place of a document. */
export function valueAt(document: unknown, steps: Steps): unknown {
  return steps.reduce<unknown>(
    (value, step) => (isRecord(value) && Object.hasOwn(value, step) ? value[step] : undefined),
    document,
  );
}

/** The names of webhooks that a reference anywhere in a document leads to, by whatever name it calls the document. */
export function namedWebhooks(part: unknown, found = new Set<string>()): ReadonlySet<string> {
  if (Array.isArray(part)) for (const it of part) namedWebhooks(it, found);
  if (!isRecord(part)) return found;
  const { $ref: reference } = part;
  if (typeof reference === 'string') {
    const [first, name] = stepsOf(reference.slice(Math.max(reference.indexOf('#'), 0))) ?? [];
    if (first === 'webhooks' && name !== undefined) found.add(name);
  }
  for (const value of Object.values(part)) namedWebhooks(value, found);
  return found;
}
