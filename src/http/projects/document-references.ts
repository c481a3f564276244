/** A part of an OpenAPI document. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** Where a local reference leads: the steps of its JSON pointer. */
export type Steps = readonly string[];

/** So many path items may stand for one another. */
const MAX_DETOURS = 10;

/** Whether a value of JSON is an object, and no list. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** All objects in the items of paths: operations, where only these are left in them. */
export function operationsIn(paths: JsonObject): readonly JsonObject[] {
  return Object.values(paths).flatMap((item) => (isObject(item) ? Object.values(item).filter(isObject) : []));
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
    (value, step) => (isObject(value) && Object.hasOwn(value, step) ? value[step] : undefined),
    document,
  );
}

/** A path item itself, where another one stands in for it; undefined where that is not in the document. */
export function pathItemAt(document: JsonObject, item: unknown): JsonObject | undefined {
  const found: JsonObject[] = [];
  for (let at = item; isObject(at); ) {
    found.unshift(at);
    const { $ref: reference } = at;
    if (reference === undefined) return merged(found);
    const steps = stepsOf(reference);
    if (steps === undefined || found.length > MAX_DETOURS) return undefined;
    at = valueAt(document, steps);
  }
  return undefined;
}

/** What several path items say together; the last word is the last one's. */
function merged(items: readonly JsonObject[]): JsonObject {
  const entries = items.flatMap((it) => Object.entries(it));
  return Object.fromEntries(entries.filter(([name]) => name !== '$ref'));
}

/**
 * The components of a document without those of which only what is hidden makes use.
 * @param all - what makes use of components, hidden or not
 * @param shown - what of that is shown
 */
export function shownComponents(components: JsonObject, all: unknown, shown: unknown): JsonObject {
  const uses = usesOf(components);
  const users = reversed(uses);
  const used = reached(namesIn(shown), (key) => uses.get(key) ?? []);
  const everywhere = reached(namesIn(all), (key) => uses.get(key) ?? []);
  const hidden = [...everywhere].filter((key) => !used.has(key));
  // What is used nowhere itself goes with what it cannot be understood without.
  const dropped = reached(hidden, (key) => (users.get(key) ?? []).filter((it) => !used.has(it)));
  return Object.fromEntries(
    Object.entries(components).map(([kind, named]) => [
      kind,
      isObject(named)
        ? Object.fromEntries(Object.entries(named).filter(([name]) => !dropped.has(keyOf(kind, name))))
        : named,
    ]),
  );
}

/** The components that each component names. */
function usesOf(components: JsonObject): ReadonlyMap<string, ReadonlySet<string>> {
  const found = Object.entries(components).flatMap(([kind, named]) =>
    isObject(named) ? Object.entries(named).map(([name, it]) => [keyOf(kind, name), namesIn(it)] as const) : [],
  );
  return new Map(found);
}

function reversed(uses: ReadonlyMap<string, ReadonlySet<string>>): ReadonlyMap<string, readonly string[]> {
  const users = new Map<string, string[]>();
  for (const [key, those] of uses) {
    for (const it of those) {
      const known = users.get(it);
      if (known === undefined) users.set(it, [key]);
      else known.push(key);
    }
  }
  return users;
}

function reached(start: Iterable<string>, next: (key: string) => Iterable<string>): ReadonlySet<string> {
  const found = new Set(start);
  // A set that grows meanwhile goes on to what was added.
  for (const key of found) for (const it of next(key)) found.add(it);
  return found;
}

/** The components that a part of a document names: by references, and by their names alone in a `mapping`. */
function namesIn(part: unknown, found = new Set<string>()): Set<string> {
  if (Array.isArray(part)) for (const it of part) namesIn(it, found);
  if (!isObject(part)) return found;
  for (const [name, value] of Object.entries(part)) {
    if (name === '$ref') addName(value, found);
    if (name === 'mapping' && isObject(value)) for (const it of Object.values(value)) addName(it, found);
    namesIn(value, found);
  }
  return found;
}

function addName(reference: unknown, found: Set<string>): void {
  const steps = stepsOf(reference) ?? ['components', 'schemas', String(reference)];
  const [first, kind, name] = steps;
  if (first === 'components' && kind !== undefined && name !== undefined) found.add(keyOf(kind, name));
}

function keyOf(kind: string, name: string): string {
  return `${kind}/${name}`;
}
