import type { CallRoute } from '../../gateway/prices/call-route.js';
import { costsAt } from '../../gateway/prices/offered-routes.js';
import type { DocumentedProject } from '../../gateway/projects/projects.js';
import { formatAmount } from '../../protocol/money/money.js';
import type { ProjectRecord } from '../../storage/projects/projects.js';

type JsonObject = Readonly<Record<string, unknown>>;

const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'];
const PARAMETER = /\{[^{}/]*\}/g;
/** What a price in dollars is paid in. */
const DOLLARS = 'USDC';

const SCHEMES = {
  serviceKey: { type: 'apiKey', in: 'header', name: 'X-Service-Key' },
  serviceSecret: { type: 'apiKey', in: 'header', name: 'X-Service-Secret' },
};

const known = new WeakMap<DocumentedProject, JsonObject>();

/**
 * A project's own OpenAPI document as buyers see it: at the address and with the keys of the gateway instead of the upstream's,
 * what is not for sale left out, and on each operation what it costs (`x-payment-info`), whatever its owner wrote there.
 * @param version - what is shown of it is made once for each
 * @param url - where the project is called
 */
export function shownDocument(version: DocumentedProject, url: string): JsonObject | null {
  if (version.openapi === undefined) return null;
  const shown = known.get(version) ?? withPrices(version.project, version.openapi);
  known.set(version, shown);
  return { ...shown, servers: [{ url }] };
}

function withPrices(project: ProjectRecord, { paths, components, ...rest }: JsonObject): JsonObject {
  return {
    ...rest,
    security: [{ serviceKey: [], serviceSecret: [] }],
    ...(isObject(paths) ? { paths: shownPaths(project, paths) } : {}),
    components: { ...(isObject(components) ? components : {}), securitySchemes: SCHEMES },
  };
}

function shownPaths(project: ProjectRecord, paths: JsonObject): JsonObject {
  const shown = Object.entries(paths).flatMap(([path, item]) => {
    if (!isObject(item)) return [];
    const { servers: _upstream, ...rest } = item;
    const costOf = costsAt(project, path.replace(PARAMETER, 'var1'));
    const fields = Object.entries(rest).flatMap(([name, value]) => {
      if (!METHODS.includes(name)) return [[name, value] as const];
      const operation = shownOperation(costOf(name.toUpperCase()), value);
      return operation === undefined ? [] : [[name, operation] as const];
    });
    const had = Object.keys(rest).some((name) => METHODS.includes(name));
    const has = fields.some(([name]) => METHODS.includes(name));
    return had && !has ? [] : [[path, Object.fromEntries(fields)] as const];
  });
  return Object.fromEntries(shown);
}

/** Undefined where it is not for sale. */
function shownOperation(at: CallRoute | undefined, value: unknown): JsonObject | undefined {
  if (at === undefined || !isObject(value)) return undefined;
  const { servers: _upstream, security: _its, 'x-payment-info': _said, ...operation } = value;
  const { amount, token, pass } = at.project.price;
  if (at.isFree) return { ...operation, 'x-payment-info': { price: { mode: 'free' } } };
  // Single calls are not sold: there is no price of one.
  if (pass !== undefined) return operation;
  const currency = token.symbol === DOLLARS ? { currency: 'USD' } : {};
  const price = { mode: 'fixed', amount: formatAmount(amount, token.decimals), token: token.symbol, ...currency };
  return { ...operation, 'x-payment-info': { price } };
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
