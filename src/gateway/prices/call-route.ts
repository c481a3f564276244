import { TollhouseError } from '../../errors/errors.js';
import { defined } from '../../lib/defined.js';
import { plainName } from '../../lib/http/plain-name.js';
import { moneyOf } from '../../protocol/networks/tokens.js';
import type { CallPrice, ProjectOffer } from '../../storage/projects/call-price.js';
import { type ProjectRoute, routeName } from '../../storage/projects/project-routes.js';
import type { ProjectPrice, ProjectRecord } from '../../storage/projects/projects.js';
import { callPathReadings } from './path-readings.js';
import { matchesMethod } from './route-pattern.js';
import { type Letters, routeTable } from './route-table.js';

/** What of a call says which route it is. */
export interface RoutedRequest {
  readonly method: string;
  /** Below `/v1/<slug>`, as it was sent: empty, or from `/` or `?` on. */
  readonly rest: string;
  /** Names of its header fields, in lower case. Default: none. */
  readonly headers?: Readonly<Record<string, unknown>>;
}

/** What a call is asked for. */
export interface CallRoute {
  /** The project, with the price of the call for its own. */
  readonly project: ProjectRecord;
  /** The name of the route whose price it is. Default: the price is the project's own. */
  readonly route?: string;
  /** The name of the route that matched, be it free. Default: none did. */
  readonly rule?: string;
  /** Whether it is passed on without payment. */
  readonly isFree: boolean;
  /** What the project sells, or has sold, whose passes cover the call beside those of its route. Default: nothing. */
  readonly covering?: readonly ProjectOffer[];
}

/** Fields by which frameworks let a request be another one than it is. */
const RENAMING: ReadonlySet<string> = new Set([
  'x-envoy-original-path',
  'x-http-method',
  'x-http-method-override',
  'x-method',
  'x-method-override',
  'x-original-method',
  'x-original-path',
  'x-original-uri',
  'x-original-url',
  'x-override-url',
  'x-rewrite-uri',
  'x-rewrite-url',
  'x-script-name',
  'x-waws-unencoded-url',
]);
/**
 * The same in a query, as readers may find it in a name: Express 4 takes brackets off, Rack those before it, PHP cuts at NUL, leaves
 * blanks at the beginning out and has `_` for blanks, `.` and a bracket that nothing closes; `x[]` is a list called `x`. A name that
 * goes on with letters, digits, `_` or `-` is another one to all of them, and so is `method`.
 */
const RENAMING_PARAMETER = /^[\s[\]]*(?:[\s[._]method|x-http-method-override)(?![\w-])/i;

/**
 * What a call of a project costs: what the first of its routes says that matches, else the price of the project. What an upstream
 * could take for a call of another route is refused, so that nobody gets one at the price of another.
 * @throws TollhouseError `ambiguous_path`, `route_not_found`, `route_denied`
 */
export function callRoute(project: ProjectRecord, { method, ...request }: RoutedRequest): CallRoute {
  return callRoutesAt(project, request)(method);
}

/**
 * The same for all methods of one path, which is read once.
 * @returns what a call by a method costs; it throws as {@link callRoute} does
 */
export function callRoutesAt(
  project: ProjectRecord,
  request: Omit<RoutedRequest, 'method'>,
): (method: string) => CallRoute {
  const { routes } = project;
  if (routes === undefined) return () => ({ project, isFree: false });
  const renaming = renamedBy(request);
  if (renaming !== undefined) {
    return () => {
      throw ambiguous(`${renaming} could make another call of this one; leave it out.`);
    };
  }
  const routeOf = routesAt(routes, request.rest);
  return (method) => costBy(project, routeOf(method));
}

function costBy(project: ProjectRecord, route: ProjectRoute | undefined): CallRoute {
  if (route === undefined) return { project, isFree: false };
  if (route.deny !== undefined) throw denied(route.deny);
  const rule = routeName(route);
  if (route.price === undefined) return { project, rule, isFree: true };
  const { network, chargeOn } = project.price;
  return {
    project: { ...project, price: { ...route.price, network, ...defined({ chargeOn }) } },
    route: rule,
    rule,
    isFree: false,
    ...(isCovered(project.price, route.price) ? { covering: soldBy(project.price) } : {}),
  };
}

function renamedBy({ rest, headers = {} }: Omit<RoutedRequest, 'method'>): string | undefined {
  const field = Object.keys(headers).find((it) => RENAMING.has(plainName(it)));
  if (field !== undefined) return `The header field ${field}`;
  // Some take parameters apart at these as well.
  const [, ...queries] = rest.split(/[?;]/);
  const parameter = [...new URLSearchParams(queries.join('&')).keys()].find((it) => RENAMING_PARAMETER.test(it));
  return parameter === undefined ? undefined : `The query parameter ${JSON.stringify(parameter)}`;
}

/** The letters of patterns count as little as those of paths, or a route with a capital would be had at another price. */
const LETTERS: readonly Letters[] = ['exact', 'dropped', 'read'];

/** The route of each method at a path, in all of its readings. */
function routesAt(routes: readonly ProjectRoute[], rest: string): (method: string) => ProjectRoute | undefined {
  const [path = ''] = rest.split('?', 1);
  const table = routeTable(routes);
  const readings = callPathReadings(path) ?? [];
  const matching = readings.flatMap((it) => LETTERS.map((letters) => table.matching(it, letters)));
  return (method) => {
    const found = new Set(matching.map((those) => those.find((route) => matchesMethod(route.method, method))));
    if (found.size !== 1) {
      throw ambiguous(
        'Servers read this path in different ways, and what it costs depends on that: write it without encoded letters, double slashes, parameters after ";" and the like, and its letters as the API does.',
      );
    }
    const [route] = found;
    return route;
  };
}

function soldBy({ amount, token, pass, offers = [], former = [] }: ProjectPrice): readonly ProjectOffer[] {
  return [...(pass === undefined ? [] : [{ amount, token, pass }]), ...offers, ...former];
}

/**
 * Whether a project's passes and free calls are good for calls of a price: single calls that are not dearer than its own, whatever else
 * is sold there.
 */
function isCovered(own: ProjectPrice, { amount, token, pass }: CallPrice): boolean {
  if (pass !== undefined || own.pass !== undefined) return false;
  return moneyOf(token.mint) === moneyOf(own.token.mint) && amount <= own.amount;
}

/** Whether the free calls of a project are good for a call: one that costs no more than its own. */
export function isWithinOwnPrice(
  project: Pick<ProjectRecord, 'price'>,
  { price }: Pick<ProjectRecord, 'price'>,
): boolean {
  return price === project.price || isCovered(project.price, price);
}

function denied(status: 403 | 404): TollhouseError {
  return status === 403
    ? new TollhouseError('route_denied', 'This method and path of the project are not for sale.')
    : new TollhouseError('route_not_found', 'The project has nothing at this method and path.');
}

function ambiguous(detail: string): TollhouseError {
  return new TollhouseError('ambiguous_path', `${detail} This request charged nothing.`);
}
