import type { Request, RequestHandler, Router } from 'express';
import { createRequestNote } from '../../lib/http/request-note.js';
import type { Routes } from './routes.js';

/**
 * Puts handlers in front of some routes and mounts these. A request meets the handlers once, whatever
 * patterns it matches. Other requests pass them by: a router is often mounted at the root of an app, whose own routes are
 * none of our business.
 */
export function guardRoutes(onto: Router, routes: readonly Routes[], handlers: readonly RequestHandler[]): void {
  const met = createRequestNote<Request, true>();
  const once: RequestHandler = (req, _res, next) => {
    if (met.of(req)) return next('route');
    met.put(req, true);
    next();
  };
  const paths = new Set(routes.flatMap(({ operations }) => operations.map(({ path }) => path)));
  for (const path of paths) onto.all(path, once, ...handlers);
  for (const { router } of routes) onto.use(router);
}

/**
 * Lets requests past a router at once whose paths do not begin as any of its routes does: it has many, and each would be
 * compared with the path. They do not even enter it, since Express takes a turn of the event loop to leave a router.
 * @param more - paths beside those of its routes; only the first segment of each counts
 */
export function passOthers(router: Router, more: readonly string[]): void {
  const enter = Reflect.get(router, 'handle');
  let firsts: ReadonlySet<string> | undefined;
  const handle: RequestHandler = (req, res, next) => {
    firsts ??= new Set([...pathsOf(router), ...more].map(firstOf));
    if (firsts.has(firstOf(req.path))) Reflect.apply(enter, router, [req, res, next]);
    else next();
  };
  Object.assign(router, { handle });
}

/** Express does not tell letters of different cases apart. */
function firstOf(path: string): string {
  const end = path.indexOf('/', 1);
  return path.slice(1, end < 0 ? undefined : end).toLowerCase();
}

function pathsOf({ stack }: Router): string[] {
  return stack.flatMap(({ route }) => (route === undefined ? [] : [route.path]));
}
