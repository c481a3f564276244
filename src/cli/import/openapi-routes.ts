import { z } from 'zod';
import { matchesRoute } from '../../gateway/prices/route-pattern.js';
import { defined } from '../../lib/defined.js';
import { type OperationPrice, operationPrice } from './payment-info.js';

/** An operation of a document, as a route of a project. */
export interface ImportedRoute {
  readonly method: string;
  /** With `*` for each segment that has a parameter. */
  readonly path: string;
  /** The path as the document has it. */
  readonly template: string;
  /** What it costs; `default` is the price of the project. */
  readonly price: OperationPrice;
}

/** What a document says of what is sold, or all that is wrong with it. */
export type ReadDocument =
  | { readonly ok: true; readonly title: string; readonly server?: string; readonly routes: readonly ImportedRoute[] }
  | { readonly ok: false; readonly faults: readonly string[] };

const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'] as const;
const PARAMETER = /\{[^{}/]+\}/;
const MAX_NAME = 80;

const documentForm = z.looseObject(
  {
    openapi: z.string('must name its version, such as "3.1.0"').regex(/^3\./, 'must be of version 3'),
    info: z.looseObject({ title: z.string('must be a text').min(1, 'must not be empty') }, 'must have a title'),
    servers: z.array(z.looseObject({ url: z.string('must be a text') })).optional(),
    paths: z.record(z.string(), z.unknown(), 'must be an object of paths'),
    security: z.array(z.unknown()).optional(),
  },
  'must be a JSON object',
);

/**
 * The operations that need a route: those that do not cost what the others do, and those that one of them would be taken for.
 * @param routes - in the order in which they decide
 */
export function neededRoutes(routes: readonly ImportedRoute[]): readonly ImportedRoute[] {
  return routes.filter(
    (it, at) =>
      it.price.kind !== 'default' ||
      routes.slice(at + 1).some((later) => later.price.kind !== 'default' && matchesRoute(later, it.method, it.path)),
  );
}

/** Reads what an OpenAPI document sells; routes without a parameter come first, as the first that matches decides. */
export function readOpenApi(document: unknown): ReadDocument {
  const read = documentForm.safeParse(document);
  if (!read.success) {
    return { ok: false, faults: read.error.issues.map((it) => `${it.path.join('.') || 'the document'} ${it.message}`) };
  }
  const { info, servers, paths, security } = read.data;
  const found = Object.entries(paths).flatMap(([path, item]) => operationsOf(path, item, security));
  const faults = found.flatMap((it) => ('fault' in it ? [it.fault] : []));
  const all = found.flatMap((it) => ('fault' in it ? [] : [it])).sort(byParameters);
  const firstOf = (it: ImportedRoute): ImportedRoute => all.find((other) => sameCalls(it, other)) ?? it;
  const routes = all.filter((it) => firstOf(it) === it);
  faults.push(...all.flatMap((it) => againFault(firstOf(it), it) ?? []));
  if (routes.length === 0 && faults.length === 0) faults.push('paths has no operation');
  if (faults.length > 0) return { ok: false, faults };
  const server = servers?.map(({ url }) => url).find((url) => URL.canParse(url));
  return { ok: true, title: info.title.slice(0, MAX_NAME), ...defined({ server }), routes };
}

type Found = ImportedRoute | { readonly fault: string };

function operationsOf(path: string, item: unknown, security: unknown): readonly Found[] {
  if (!path.startsWith('/')) return path.startsWith('x-') ? [] : [{ fault: `paths: "${path}" must begin with "/"` }];
  if (typeof item !== 'object' || item === null) return [{ fault: `paths: "${path}" must be an object` }];
  return METHODS.flatMap((name): readonly Found[] => {
    const operation: unknown = Reflect.get(item, name);
    if (operation === undefined) return [];
    const method = name.toUpperCase();
    if (typeof operation !== 'object' || operation === null) return [{ fault: `${method} ${path} must be an object` }];
    const price = operationPrice(
      Reflect.get(operation, 'x-payment-info'),
      Reflect.get(operation, 'security') ?? security,
    );
    if (price.kind === 'fault') return [{ fault: `${method} ${path}: ${price.detail}` }];
    return [{ method, path: patternOf(path), template: path, price }];
  });
}

/** A segment with a parameter is any segment. */
function patternOf(path: string): string {
  return path
    .split('/')
    .map((segment) => (PARAMETER.test(segment) ? '*' : segment))
    .join('/');
}

/** What is written out comes before what stands for anything, segment by segment. */
function byParameters(a: ImportedRoute, b: ImportedRoute): number {
  const [left, right] = [a, b].map(({ path }) =>
    path
      .split('/')
      .map((it) => (it === '*' ? '1' : '0'))
      .join(''),
  );
  return (left ?? '').localeCompare(right ?? '');
}

/** Why two operations cannot both be imported that are one route; undefined where they can. */
function againFault(first: ImportedRoute, it: ImportedRoute): string | undefined {
  if (first === it) return undefined;
  const [one, other] = [`${first.method} ${first.template}`, `${it.method} ${it.template}`];
  if (nameless(first) === nameless(it)) return `${one} and ${other} are the same but for names of parameters`;
  const [left, right] = [first, it].map(({ price }) => JSON.stringify(price));
  if (left === right) return undefined;
  return `${one} and ${other} differ in price, and a route tells whole segments apart only: both are ${it.method} ${it.path}; give them one price`;
}

function nameless({ template }: ImportedRoute): string {
  return template.replace(/\{[^{}/]+\}/g, '{}');
}

function sameCalls(a: ImportedRoute, b: ImportedRoute): boolean {
  return a.method === b.method && a.path === b.path;
}
