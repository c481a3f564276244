import { z } from 'zod';
import { matchesRoute } from '../../gateway/prices/route-pattern.js';
import { defined } from '../../lib/defined.js';
import { type OperationPrice, operationPrice } from './payment-info.js';

/** An operation of a document, as a route of a project. */
export interface ImportedRoute {
  readonly method: string;
  /** With `*` for each parameter. */
  readonly path: string;
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
  const routes = found.flatMap((it) => ('fault' in it ? [] : [it])).sort(byParameters);
  const twice = routes.filter((it, at) => routes.findIndex((other) => sameCalls(it, other)) < at);
  const again = ({ method, path }: ImportedRoute) =>
    `${method} ${path} stands there twice, but for names of parameters`;
  faults.push(...twice.map(again));
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
    return [{ method, path: patternOf(path), price }];
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

function sameCalls(a: ImportedRoute, b: ImportedRoute): boolean {
  return a.method === b.method && a.path === b.path;
}
