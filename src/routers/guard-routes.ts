import type { Request, RequestHandler, Router } from 'express';

/**
 * Puts handlers in front of all routes of some routers and mounts these. A request meets the handlers once, whatever
 * patterns it matches. Other requests pass them by: a router is often mounted at the root of an app, whose own routes are
 * none of our business.
 */
export function guardRoutes(onto: Router, routers: readonly Router[], handlers: readonly RequestHandler[]): void {
  const met = new WeakSet<Request>();
  const once: RequestHandler = (req, _res, next) => {
    if (met.has(req)) return next('route');
    met.add(req);
    next();
  };
  const paths = new Set(routers.flatMap(pathsOf));
  for (const path of paths) onto.all(path, once, ...handlers);
  for (const router of routers) onto.use(router);
}

function pathsOf({ stack }: Router): string[] {
  return stack.flatMap(({ route }) => (route === undefined ? [] : [route.path]));
}
