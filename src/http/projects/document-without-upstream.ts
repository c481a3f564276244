import { isObject, type JsonObject, operationsIn, stepsOf } from './document-references.js';

/** What parts of a document may refer to. */
export interface ShownParts {
  /** Operations by path and method. */
  readonly paths: JsonObject;
  /** Host of the upstream, with its port. */
  readonly upstreamHost: string;
}

/** Fields whose objects have names of the owner's own, which mean nothing here. */
const NAMED = new Set([
  '$defs',
  'callbacks',
  'content',
  'definitions',
  'dependentSchemas',
  'encoding',
  'examples',
  'headers',
  'links',
  'mapping',
  'parameters',
  'patternProperties',
  'properties',
  'requestBodies',
  'responses',
  'schemas',
  'variables',
  'webhooks',
]);
/** Fields that hold any JSON, in which nothing has a meaning. */
const DATA = new Set(['const', 'default', 'enum', 'example', 'value']);
/** Fields that say where the upstream is and how it is called. Those of the third line are Swagger's. */
const OF_UPSTREAM = new Set([
  ...['servers', 'server', 'security', 'securitySchemes'],
  ...['$self', '$id', 'externalValue', 'pathItems'],
  ...['host', 'basePath', 'schemes', 'securityDefinitions'],
]);

/**
 * A part of an OpenAPI document without what names the upstream: servers, extensions (`x-`: gateways keep addresses in them), addresses on
 * its host, references out of the document, and those to operations that are not shown. Texts stay as their owner wrote them.
 */
export function withoutUpstream(part: unknown, shown: ShownParts): unknown {
  if (Array.isArray(part)) return part.map((it) => withoutUpstream(it, shown)).filter((it) => it !== undefined);
  if (!isObject(part)) return isAddressOf(part, shown) ? undefined : part;
  return fieldsOf(part, ([name, value]) => {
    if (OF_UPSTREAM.has(name) || name.startsWith('x-')) return undefined;
    if (DATA.has(name) || (name === 'examples' && Array.isArray(value))) return value;
    if (name === 'externalDocs' && isObject(value) && isAddressOf(value['url'], shown)) return undefined;
    if (name === '$ref') return isShown(value, shown) ? value : undefined;
    return NAMED.has(name) && isObject(value) ? entriesOf(name, value, shown) : withoutUpstream(value, shown);
  });
}

function entriesOf(kind: string, named: JsonObject, shown: ShownParts): JsonObject {
  return fieldsOf(named, ([name, value]) => {
    if (kind === 'responses' && name.startsWith('x-')) return undefined;
    if (kind === 'links' && !leadsToShown(value, shown)) return undefined;
    return withoutUpstream(value, shown);
  });
}

function fieldsOf(part: JsonObject, read: (field: readonly [string, unknown]) => unknown): JsonObject {
  const fields = Object.entries(part).map(([name, value]) => [name, read([name, value])] as const);
  return Object.fromEntries(fields.filter(([, value]) => value !== undefined));
}

function isAddressOf(value: unknown, { upstreamHost }: ShownParts): boolean {
  return typeof value === 'string' && URL.canParse(value) && new URL(value).host === upstreamHost;
}

/** Whether a reference leads to a part of the document that is shown. */
function isShown(reference: unknown, { paths }: ShownParts): boolean {
  const [first, path = '', method = ''] = stepsOf(reference) ?? [];
  if (first !== 'paths') return first !== undefined && !String(reference).startsWith('#/components/pathItems');
  const item = Object.hasOwn(paths, path) ? paths[path] : undefined;
  return isObject(item) && Object.hasOwn(item, method);
}

/** Whether a link leads to an operation that is shown. */
function leadsToShown(link: unknown, shown: ShownParts): boolean {
  if (!isObject(link)) return false;
  const { operationRef, operationId } = link;
  if (operationRef !== undefined) return isShown(operationRef, shown);
  return operationId === undefined || operationIds(shown).has(operationId);
}

const knownIds = new WeakMap<JsonObject, ReadonlySet<unknown>>();

function operationIds({ paths }: ShownParts): ReadonlySet<unknown> {
  const ids = knownIds.get(paths) ?? new Set(operationsIn(paths).map(({ operationId }) => operationId));
  knownIds.set(paths, ids);
  return ids;
}
