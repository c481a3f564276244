import type { Request } from 'express';
import { trimEnd } from '../../lib/trim-end.js';
import { requestTarget } from '../gate/request-url.js';
import type { PassRule } from '../terms/pass-option.js';
import { routePattern, type WrittenRoute } from './pass-place.js';

/** What a cookie's path may consist of: a path that a client asks for must not add attributes. Browsers ignore longer ones. */
const PATH = /^\/[\w\-.~%!$&'()*+=:@/]{0,511}$/;
/** A segment that reads the same in every table of routes. */
const LITERAL = /^[\w.~%-]+$/;
const EVERYWHERE = '/';

/**
 * The narrowest path of a cookie that covers what a pass of a rule covers, as browsers see it: of a group all of the host, of a
 * route what stands before its first parameter. Browsers tell `/Report` from `/report`, and so it is taken from the address that
 * is asked for. Ask before anything behind the gate runs.
 * @param baseUrl - address under which clients reach the server; default from the request
 */
export function cookiePath(
  req: Request,
  { group }: Pick<PassRule, 'group'>,
  written: WrittenRoute | undefined,
  baseUrl: string | undefined,
): string {
  const [asked = ''] = requestTarget(req).split(/[?#]/, 1);
  // An address that was rewritten on its way says nothing of how browsers see the route.
  if (group !== undefined || trimEnd(asked, '/') !== trimEnd(req.baseUrl + req.path, '/')) return EVERYWHERE;
  const outside = baseUrl === undefined ? '' : trimEnd(new URL(baseUrl).pathname, '/');
  const pattern = routePattern(req, written);
  const covered = pattern === undefined ? trimEnd(asked, '/') : req.baseUrl + literalPart(req.path, pattern);
  const path = `${outside}${covered}`;
  return PATH.test(path) ? path : EVERYWHERE;
}

/** As much of a path as its pattern writes out, segment by segment. */
function literalPart(path: string, pattern: unknown): string {
  const wanted = typeof pattern === 'string' ? pattern.split('/').slice(1) : [];
  const given = path.split('/').slice(1);
  const open = wanted.findIndex((it, at) => !LITERAL.test(it) || given[at]?.toLowerCase() !== it.toLowerCase());
  return given
    .slice(0, open < 0 ? wanted.length : open)
    .map((it) => `/${it}`)
    .join('');
}
