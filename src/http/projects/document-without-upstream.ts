import { isRecord } from '../../lib/parsed.js';
import { trimEnd } from '../../lib/trim-end.js';
import { type JsonObject, operationsIn, stepsOf } from './document-references.js';

/** What parts of a document may refer to. */
export interface ShownParts {
  /** Operations by path and method. */
  readonly paths: JsonObject;
  /** Host of the upstream, without its port. */
  readonly upstreamHost: string;
  /** Components that are referred to from what is shown, as {@link componentKey} names them: those that are found are added. */
  readonly named: Set<string>;
}

/** Kinds of components that may be shown. */
export const COMPONENT_KINDS: readonly string[] = [
  ...['schemas', 'responses', 'parameters', 'examples', 'requestBodies'],
  ...['headers', 'links', 'callbacks', 'mediaTypes'],
];

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
  'mediaTypes',
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
const DATA = new Set(['const', 'dataValue', 'default', 'enum', 'example', 'value']);
/** Fields that say where the upstream is and how it is called, those of the third line are Swagger's; and other names of parts. */
const OF_UPSTREAM = new Set([
  ...['servers', 'server', 'security', 'securitySchemes'],
  ...['$self', '$id', 'externalValue', 'pathItems'],
  ...['host', 'basePath', 'schemes', 'securityDefinitions'],
  ...['$anchor', '$dynamicAnchor', '$recursiveAnchor', '$dynamicRef', '$recursiveRef'],
]);
/** What addresses are relative to that name no host: its scheme is no upstream's, or `https:host` would be relative too. */
const NOWHERE = 'ws://nowhere.invalid';

/**
 * A part of an OpenAPI document without what names the upstream: servers, extensions (`x-`: gateways keep addresses in them), addresses on
 * its host, references out of the document, and those to what is not shown. Texts stay as their owner wrote them.
 */
export function withoutUpstream(part: unknown, shown: ShownParts): unknown {
  if (Array.isArray(part)) return part.map((it) => withoutUpstream(it, shown)).filter((it) => it !== undefined);
  if (!isRecord(part)) return isAddressOf(part, shown) ? undefined : part;
  return fieldsOf(part, shown, ([name, value]) => {
    if (OF_UPSTREAM.has(name) || name.startsWith('x-')) return undefined;
    if (DATA.has(name) || (name === 'examples' && Array.isArray(value))) return dataOf(value, shown);
    if (name === 'externalDocs' && isRecord(value) && isAddressOf(value['url'], shown)) return undefined;
    if (name === '$ref') return isShown(value, shown) ? value : undefined;
    return NAMED.has(name) && isRecord(value) ? entriesOf(name, value, shown) : withoutUpstream(value, shown);
  });
}

/** The same of objects that have names of the owner's own. */
export function entriesOf(kind: string, named: JsonObject, shown: ShownParts): JsonObject {
  return fieldsOf(named, shown, ([name, value]) => {
    if (kind === 'mapping') return isNamedElsewhere(value, shown) ? value : undefined;
    if (kind === 'responses' && name.startsWith('x-')) return undefined;
    if (kind === 'links' && !leadsToShown(value, shown)) return undefined;
    return withoutUpstream(value, shown);
  });
}

/** How a component is named among {@link ShownParts.named}. */
export function componentKey(kind: string, name: string): string {
  return `${kind}/${name}`;
}

function dataOf(value: unknown, shown: ShownParts): unknown {
  if (Array.isArray(value)) return value.map((it) => dataOf(it, shown)).filter((it) => it !== undefined);
  if (isRecord(value)) return fieldsOf(value, shown, ([, it]) => dataOf(it, shown));
  // A name without a dot is a word like others.
  const isHost = shown.upstreamHost.includes('.') && isAddressOf(`//${value}`, shown);
  return isHost || isAddressOf(value, shown) ? undefined : value;
}

function fieldsOf(
  part: JsonObject,
  shown: ShownParts,
  read: (field: readonly [string, unknown]) => unknown,
): JsonObject {
  const fields = Object.entries(part).map(
    ([name, value]) => [name, isAddressOf(name, shown) ? undefined : read([name, value])] as const,
  );
  return Object.fromEntries(fields.filter(([, value]) => value !== undefined));
}

function isAddressOf(value: unknown, { upstreamHost }: ShownParts): boolean {
  if (typeof value !== 'string' || !URL.canParse(value, NOWHERE)) return false;
  return trimEnd(new URL(value, NOWHERE).hostname, '.') === trimEnd(upstreamHost, '.');
}

/** Whether a reference leads to a part of the document that is shown. */
function isShown(reference: unknown, shown: ShownParts): boolean {
  const [first, kind = '', name] = stepsOf(reference) ?? [];
  if (first === 'paths') return isShownOperation(reference, shown);
  if (first !== 'components' || name === undefined || !COMPONENT_KINDS.includes(kind)) return false;
  shown.named.add(componentKey(kind, name));
  return true;
}

function isShownOperation(reference: unknown, { paths }: ShownParts): boolean {
  const [first, path = '', method = ''] = stepsOf(reference) ?? [];
  const item = first === 'paths' && Object.hasOwn(paths, path) ? paths[path] : undefined;
  return isRecord(item) && Object.hasOwn(item, method);
}

/** Whether a schema that a discriminator names is shown without it: a type may have kinds that only hidden operations have. */
function isNamedElsewhere(schema: unknown, { named }: ShownParts): boolean {
  const [first, kind = '', name = ''] = stepsOf(schema) ?? ['components', 'schemas', String(schema)];
  return first === 'components' && named.has(componentKey(kind, name));
}

/** Whether a link leads to an operation that is shown. */
function leadsToShown(link: unknown, shown: ShownParts): boolean {
  if (!isRecord(link)) return false;
  const { operationRef, operationId } = link;
  if (operationRef !== undefined) return isShownOperation(operationRef, shown);
  return operationId === undefined || operationIds(shown).has(operationId);
}

const knownIds = new WeakMap<JsonObject, ReadonlySet<unknown>>();

function operationIds({ paths }: ShownParts): ReadonlySet<unknown> {
  const ids = knownIds.get(paths) ?? new Set(operationsIn(paths).map(({ operationId }) => operationId));
  knownIds.set(paths, ids);
  return ids;
}
