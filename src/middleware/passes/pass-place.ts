import { createHash } from 'node:crypto';
import type { Request } from 'express';
import { siteOfGate } from '../../protocol/networks/pass-site.js';
import { askFirstOf } from '../gate/gate.js';
import { routeHandlers } from '../gate/route-handlers.js';
import type { PassRule } from '../terms/pass-option.js';
import { recipientOf } from '../terms/pay-to.js';
import type { ResolvedPaymentOptions } from '../terms/payment-options.js';

/** What tells of a pattern, and stands in addresses at most as letters of their own. */
const LIKE_A_PATTERN = /[{}:*()[\]?+^$|\\]/;
/** What may be missing of the addresses of a pattern. */
const OPTIONAL = /\{[^}]*\}|:\w+\?/g;
/** More than anybody mounts one gate at, and few enough to be given an allowance each. */
const MOST_MOUNTS = 20;
/** More than anybody writes out for one route. */
const MOST_METHODS = 9;

/** What is longer, as only the path of a client can be, is known by its digest. */
const MAX_SCOPE_LENGTH = 512;

/**
 * The site of a gate that sells passes.
 * @param seller - who sells: its wallet, base58. Default: the one that is paid
 * @throws TollhouseError `bad_option` where that depends on the request
 */
export function siteOfSeller(
  where: string,
  { baseUrl, payTo, facilitator }: Pick<ResolvedPaymentOptions, 'baseUrl' | 'payTo' | 'facilitator'>,
  seller?: string,
): string {
  return siteOfGate(baseUrl, seller ?? recipientOf(where, payTo, facilitator.tokens), facilitator.network);
}

/** A route as a table of routes has it. */
export interface WrittenRoute {
  /** In capitals, or `*`. */
  readonly method: string;
  readonly path: string;
}

/** Reads what a table of routes says of one: `GET /files/*`, `/files/*`; undefined where nothing is written. */
export function readRoute(route: string | undefined): WrittenRoute | undefined {
  const [, verb = '*', path] = /^(?:(\S+)\s+)?(\S+)$/.exec(route?.trim() ?? '') ?? [];
  return path === undefined ? undefined : { method: verb.toUpperCase(), path };
}

/**
 * What a pass of a rule covers that is bought with a request: its group, else method and path of the route, as it is written in
 * the app; of a gate that no route is made of (`app.use`), the path that is asked for. Who asks for the head of a response gets
 * what GET gets. Ask before anything behind the gate runs: routers change what the request says of its route.
 */
export function passScope(req: Request, { group }: Pick<PassRule, 'group'>, written: WrittenRoute | undefined): string {
  if (group !== undefined) return `group ${group}`;
  const { baseUrl } = req;
  const pattern = routePattern(req, written);
  // A client may ask for a path that reads like the pattern of another route.
  const mount = LIKE_A_PATTERN.test(baseUrl) ? `at ${JSON.stringify(baseUrl)} ` : baseUrl;
  const place = pattern === undefined ? `path ${baseUrl}${req.path}` : `${mount}${patternText(pattern)}`;
  return scopeAt(`${written?.method ?? methodOf(req)} ${place}`);
}

/**
 * What an allowance of a rule is for, which begins by itself for whoever asks: its group, else the route, or all that stands behind a gate
 * of no route. Of the spellings of an address none begins another one. Ask as for {@link passScope}.
 * @param mounts - where the gate was reached before. Routers that are mounted with a parameter are at any number of places: beyond
 *   some all share one allowance
 */
export function allowanceScope(
  req: Request,
  { group }: Pick<PassRule, 'group'>,
  written: WrittenRoute | undefined,
  mounts: Set<string>,
): string {
  if (group !== undefined) return `group ${group}`;
  const mount = req.baseUrl.toLowerCase();
  if (mounts.size < MOST_MOUNTS) mounts.add(mount);
  const pattern = routePattern(req, written);
  const method = written?.method ?? (pattern === undefined || takesAll(req) ? '*' : methodOf(req));
  const place = pattern === undefined ? '/*' : patternText(pattern);
  return scopeAt(`${method} ${mounts.has(mount) ? mount : '*'}${place}`);
}

/** Whether the route of a request is for all methods: `router.all` says so, `app.all` names each. */
function takesAll({ route }: Request): boolean {
  const methods = Object.keys(Reflect.get(Object(route), 'methods') ?? {});
  return methods.includes('_all') || methods.length > MOST_METHODS;
}

function methodOf({ method }: Request): string {
  return method === 'HEAD' ? 'GET' : method;
}

function scopeAt(scope: string): string {
  return scope.length > MAX_SCOPE_LENGTH ? `path ${createHash('sha256').update(scope).digest('hex')}` : scope;
}

/** The path of the route that a request is at, as it is written: a text, or whatever else Express takes; undefined where none is. */
export function routePattern(req: Request, written: WrittenRoute | undefined): unknown {
  if (written !== undefined) return written.path;
  const pattern: unknown = Reflect.get(Object(req.route), 'path');
  return isAtRoute(req, pattern) ? pattern : undefined;
}

/**
 * Whether a request is at a route still: Express goes on to say so of one that has passed the request on, as those do that log. What its
 * pattern names is there no longer then. A gate of ours on it tells as well, but for wrapped ones.
 */
function isAtRoute(req: Request, pattern: unknown): boolean {
  if (pattern === undefined) return false;
  const known = signsOf.get(req.route);
  const signs = known === undefined ? readSigns(req, pattern) : known;
  signsOf.set(req.route, signs);
  const isThere = (name: string) => Object.hasOwn(req.params, name);
  return signs?.sure.every(isThere) === true && (signs.isGated || signs.optional.every(isThere));
}

/** How a request at a route is told. */
interface RouteSigns {
  readonly isGated: boolean;
  /** Parameters that each request at it has, and those that it may have. */
  readonly sure: readonly string[];
  readonly optional: readonly string[];
}

/** Every request of a pass asks, some of them for each thing that is sold; `null` of routes that nothing tells. */
const signsOf = new WeakMap<object, RouteSigns | null>();

function readSigns(req: Request, pattern: unknown): RouteSigns | null {
  const isGated = routeHandlers(req).some((it) => askFirstOf(it) !== undefined);
  if (typeof pattern !== 'string') return isGated ? { isGated, sure: [], optional: [] } : null;
  return { isGated, sure: namesIn(pattern.replace(OPTIONAL, '')), optional: namesIn(pattern) };
}

/** The names of the parameters of a pattern: `:id`, `*rest`; `*` alone is 0 in Express 4. */
function namesIn(pattern: string): readonly string[] {
  const named = pattern.replace(/\([^)]*\)/g, '').matchAll(/(?<!\\)[:*](?:"([^"]*)"|(\w*))/g);
  return [...named].map(([, quoted, name]) => quoted ?? (name || '0'));
}

function patternText(pattern: unknown): string {
  return Array.isArray(pattern) ? `[${pattern.map(patternText).join(' ')}]` : String(pattern);
}
