import type { CallRoute } from '../../gateway/prices/call-route.js';
import { costsAt } from '../../gateway/prices/offered-routes.js';
import type { DocumentedProject } from '../../gateway/projects/projects.js';
import { boundedCache } from '../../lib/bounded-cache.js';
import { isRecord } from '../../lib/parsed.js';
import { formatAmount } from '../../protocol/money/money.js';
import type { ProjectRecord } from '../../storage/projects/projects.js';
import { type JsonObject, namedWebhooks, operationsIn } from './document-references.js';
import {
  COMPONENT_KINDS,
  componentKey,
  entriesOf,
  type ShownParts,
  withoutUpstream,
} from './document-without-upstream.js';
import { pathItemReader } from './path-items.js';

const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'];
/** What a path item says of all of its operations. */
const COMMON = ['summary', 'description', 'parameters'];
/** Fields of a document that say nothing of single operations. Others are nobody's, or told of those that are shown. */
const GENERAL = ['openapi', 'swagger', 'info', 'externalDocs', 'jsonSchemaDialect'];
/** Characters of JSON that are kept of what is shown. */
const MOST_KEPT = 16_777_216;
const PARAMETER = /\{[^{}/]*\}/g;
/** What a price in dollars is paid in. */
const DOLLARS = 'USDC';

const SCHEMES = {
  serviceKey: { type: 'apiKey', in: 'header', name: 'X-Service-Key' },
  serviceSecret: { type: 'apiKey', in: 'header', name: 'X-Service-Secret' },
};

/** What is for sale at a path. */
interface SoldPath {
  readonly path: string;
  readonly common: JsonObject;
  readonly operations: readonly { readonly method: string; readonly operation: JsonObject; readonly at: CallRoute }[];
}

const known = boundedCache<DocumentedProject, JsonObject>({
  max: MOST_KEPT,
  sizeCalculation: (shown) => JSON.stringify(shown).length,
});

/**
 * A project's own OpenAPI document as buyers see it: at the address and with the keys of the gateway instead of the upstream's,
 * of its parts only those that are for sale and what these refer to, and on each operation what it costs (`x-payment-info`), whatever
 * its owner wrote there.
 * @param version - what is shown of it is made once for each
 * @param url - where the project is called
 */
export function shownDocument(version: DocumentedProject, url: string): JsonObject | null {
  if (version.openapi === undefined) return null;
  const before = known.get(version);
  const shown = before ?? withPrices(version.project, version.openapi);
  if (before === undefined) known.set(version, shown);
  return { ...shown, servers: [{ url }] };
}

function withPrices(project: ProjectRecord, document: JsonObject): JsonObject {
  const { paths, tags } = document;
  const components = isRecord(document['components']) ? document['components'] : {};
  const sold = isRecord(paths) ? soldPaths(project, document, paths) : [];
  const shown: ShownParts = {
    paths: pathsOf(sold, ({ operation }) => operation),
    upstreamHost: new URL(project.upstream.url).hostname,
    named: new Set(),
  };
  const scrubbed = (part: unknown) => withoutUpstream(part, shown);
  const priced = () =>
    pathsOf(sold, ({ operation, at }) => ({ ...Object(scrubbed(operation)), ...priceOf(at) }), scrubbed);
  const general = Object.fromEntries(Object.entries(document).filter(([name]) => GENERAL.includes(name)));
  const webhooks = webhooksOf(document);
  // All that is referred to has to be known before anything is shown of it: the first time is for that.
  priced();
  scrubbed(webhooks);
  for (const key of shown.named) shownComponent(components, key, shown);
  return {
    ...Object(scrubbed(general)),
    ...(Array.isArray(tags) ? { tags: scrubbed(usedTags(tags, shown.paths)) } : {}),
    security: [{ serviceKey: [], serviceSecret: [] }],
    ...(isRecord(paths) ? { paths: priced() } : {}),
    ...Object(scrubbed(webhooks)),
    components: { ...shownComponents(components, shown), securitySchemes: SCHEMES },
  };
}

/** Webhooks, but for those that something in the document refers to: it may be what is not for sale. */
function webhooksOf(document: JsonObject): JsonObject {
  const { webhooks } = document;
  if (!isRecord(webhooks)) return {};
  const named = namedWebhooks(document);
  return { webhooks: Object.fromEntries(Object.entries(webhooks).filter(([name]) => !named.has(name))) };
}

function shownComponents(components: JsonObject, shown: ShownParts): JsonObject {
  const kinds = COMPONENT_KINDS.map((kind) => {
    const keys = [...shown.named].filter((key) => key.startsWith(componentKey(kind, '')));
    const entries = keys.flatMap((key) => Object.entries(shownComponent(components, key, shown)));
    return [kind, Object.fromEntries(entries)] as const;
  });
  return Object.fromEntries(kinds.filter(([, named]) => Object.keys(named).length > 0));
}

/** What is shown of one component, by its name; nothing where there is none. */
function shownComponent(components: JsonObject, key: string, shown: ShownParts): JsonObject {
  const kind = key.slice(0, key.indexOf('/'));
  const name = key.slice(kind.length + 1);
  const named = Object.hasOwn(components, kind) ? components[kind] : undefined;
  return isRecord(named) && Object.hasOwn(named, name) ? entriesOf(kind, { [name]: named[name] }, shown) : {};
}

function soldPaths(project: ProjectRecord, document: JsonObject, paths: JsonObject): readonly SoldPath[] {
  const readItem = pathItemReader(document, [...METHODS, ...COMMON]);
  return Object.entries(paths).flatMap(([path, written]) => {
    const item = readItem(written);
    if (item === undefined) return [];
    const costOf = costsAt(project, path.replace(PARAMETER, 'var1'));
    const operations = METHODS.flatMap((method) => {
      const operation = item[method];
      const at = isRecord(operation) ? costOf(method.toUpperCase()) : undefined;
      return at !== undefined && isRecord(operation) ? [{ method, operation, at }] : [];
    });
    const common = Object.fromEntries(Object.entries(item).filter(([name]) => COMMON.includes(name)));
    return operations.length === 0 ? [] : [{ path, common, operations }];
  });
}

/** What is made of each operation, by path and method, beside what their paths say of all. */
function pathsOf(
  sold: readonly SoldPath[],
  read: (operation: SoldPath['operations'][number]) => JsonObject,
  readCommon: (common: JsonObject) => unknown = () => ({}),
): JsonObject {
  const entries = sold.map(({ path, common, operations }) => {
    const its = operations.map((it) => [it.method, read(it)] as const);
    return [path, { ...Object(readCommon(common)), ...Object.fromEntries(its) }] as const;
  });
  return Object.fromEntries(entries);
}

/** The tags of operations that are shown: others may tell of those that are not. */
function usedTags(tags: readonly unknown[], paths: JsonObject): readonly unknown[] {
  const used = new Set(operationsIn(paths).flatMap((it) => it['tags']));
  return tags.filter((tag) => isRecord(tag) && used.has(tag['name']));
}

function priceOf({ isFree, project: { price } }: CallRoute): JsonObject {
  const { amount, token, pass } = price;
  if (isFree) return { 'x-payment-info': { price: { mode: 'free' } } };
  // Single calls are not sold: there is no price of one.
  if (pass !== undefined) return {};
  const currency = token.symbol === DOLLARS ? { currency: 'USD' } : {};
  const told = { mode: 'fixed', amount: formatAmount(amount, token.decimals), token: token.symbol, ...currency };
  return { 'x-payment-info': { price: told } };
}
