import type { CallRoute } from '../../gateway/prices/call-route.js';
import { costsAt } from '../../gateway/prices/offered-routes.js';
import type { DocumentedProject } from '../../gateway/projects/projects.js';
import { formatAmount } from '../../protocol/money/money.js';
import type { ProjectRecord } from '../../storage/projects/projects.js';
import { isObject, type JsonObject, operationsIn, pathItemAt, shownComponents } from './document-references.js';
import { withoutUpstream } from './document-without-upstream.js';

const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'];
/** What a path item says of all of its operations. */
const COMMON = ['summary', 'description', 'parameters'];
/** Characters of JSON that paths may name elsewhere: a short document can name a long part a thousand times. */
const MOST_REFERRED = 262_144;
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

const known = new WeakMap<DocumentedProject, JsonObject>();

/**
 * A project's own OpenAPI document as buyers see it: at the address and with the keys of the gateway instead of the upstream's,
 * what is not for sale left out, with what only that makes use of, and on each operation what it costs (`x-payment-info`), whatever
 * its owner wrote there.
 * @param version - what is shown of it is made once for each
 * @param url - where the project is called
 */
export function shownDocument(version: DocumentedProject, url: string): JsonObject | null {
  if (version.openapi === undefined) return null;
  const shown = known.get(version) ?? withPrices(version.project, version.openapi);
  known.set(version, shown);
  return { ...shown, servers: [{ url }] };
}

function withPrices(project: ProjectRecord, document: JsonObject): JsonObject {
  const { paths, components, tags, ...rest } = document;
  const sold = isObject(paths) ? soldPaths(project, document, paths) : [];
  const shown = {
    paths: pathsOf(sold, ({ operation }) => operation),
    upstreamHost: new URL(project.upstream.url).host,
  };
  const scrubbed = (part: unknown) => withoutUpstream(part, shown);
  const priced = pathsOf(sold, ({ operation, at }) => ({ ...Object(scrubbed(operation)), ...priceOf(at) }), scrubbed);
  const { pathItems, ...named } = isObject(components) ? components : {};
  const kept = shownComponents(named, [paths, pathItems], [priced, rest]);
  return {
    ...Object(scrubbed(rest)),
    ...(Array.isArray(tags) ? { tags: scrubbed(usedTags(tags, shown.paths)) } : {}),
    security: [{ serviceKey: [], serviceSecret: [] }],
    ...(isObject(paths) ? { paths: priced } : {}),
    components: { ...Object(scrubbed(kept)), securitySchemes: SCHEMES },
  };
}

function soldPaths(project: ProjectRecord, document: JsonObject, paths: JsonObject): readonly SoldPath[] {
  const itemOf = pathItemsOf(document);
  return Object.entries(paths).flatMap(([path, written]) => {
    const item = itemOf(written);
    if (item === undefined) return [];
    const costOf = costsAt(project, path.replace(PARAMETER, 'var1'));
    const operations = METHODS.flatMap((method) => {
      const operation = Object.hasOwn(item, method) ? item[method] : undefined;
      const at = isObject(operation) ? costOf(method.toUpperCase()) : undefined;
      return at !== undefined && isObject(operation) ? [{ method, operation, at }] : [];
    });
    const common = Object.fromEntries(Object.entries(item).filter(([name]) => COMMON.includes(name)));
    return operations.length === 0 ? [] : [{ path, common, operations }];
  });
}

/** Reads the path items of a document; those that stand elsewhere up to a bound, and from there on none of them. */
function pathItemsOf(document: JsonObject): (written: unknown) => JsonObject | undefined {
  let referred = 0;
  return (written) => {
    if (!isObject(written) || written['$ref'] === undefined) return pathItemAt(document, written);
    if (referred > MOST_REFERRED) return undefined;
    const item = pathItemAt(document, written);
    referred += JSON.stringify(item ?? null).length;
    return referred > MOST_REFERRED ? undefined : item;
  };
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
  return tags.filter((tag) => isObject(tag) && used.has(tag['name']));
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
