import { createHash } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import type { Request } from 'express';
import { createRequestNote } from '../../lib/http/request-note.js';
import { headHook } from '../../lib/http/write-head.js';
import { trimEnd } from '../../lib/trim-end.js';
import { formerSite } from '../../protocol/networks/pass-site.js';
import { PASS_COOKIE } from '../gate/pass-headers.js';
import { basePathOf, requestTarget } from '../gate/request-url.js';
import type { PassRule } from '../terms/pass-option.js';
import { isOwnDoing, isSecureAt } from '../wallet/own-doing.js';
import { routePattern, type WrittenRoute } from './pass-place.js';
import type { PassCookie, PassParts, PassPlace } from './pass-types.js';

/** What came as the cookie of the passes of a scope. There may be several of its name: of a wider path, or of a wider domain. */
export interface ShownCookie {
  /** The values under its name, each once, in the order of the browser, which says nothing of whose they are. */
  readonly tokens: readonly string[];
  /** Whether those are all. */
  readonly isWhole: boolean;
  readonly cookie: PassCookie;
  /** What its pass is to cover. */
  readonly scope: string;
  /** Whether its name is of the {@link formerSite}: that is also the name of one that live money has bought. */
  readonly isFormer: boolean;
}

/** Browsers keep none for much longer. */
const LONGEST_SECONDS = 31_536_000;
const DIGEST_LENGTH = 16;
/**
 * So many of one name are read. Any other host of the domain can plant some, and no browser keeps more for a domain, so that none can
 * hide the right one. A request's head of 16 KB has room for less than a hundred signatures to look at, which take milliseconds.
 */
const MOST_OF_A_NAME = 200;
const EVERYWHERE = '/';
const HOST_PREFIX = '__Host-';

/**
 * The cookie that passes of a scope are given out in at some place; undefined where they have none. Those of two scopes have two
 * names. By their prefixes browsers know that no page over http may set them, and where all of a host is covered, that no other
 * host of its domain may either.
 */
export function cookieAt(
  req: Request,
  parts: PassParts,
  places: readonly PassPlace[],
  scope: string,
): PassCookie | undefined {
  const path = places.find((it) => it.scope === scope && it.cookiePath !== undefined)?.cookiePath;
  if (path === undefined) return undefined;
  const isSecure = isSecureAt(req, parts);
  const names = namesOf(parts.site, scope, isSecure);
  return { name: (path === EVERYWHERE ? names[0] : names.at(-1)) ?? '', path, isSecure };
}

/**
 * The cookies that a request brings of the passes of some places, by their names. None where a
 * page of another site may be behind the request: what changes something counts only where its browser says that a page of this
 * site has sent it.
 */
export function shownCookies(req: Request, parts: PassParts, places: readonly PassPlace[]): readonly ShownCookie[] {
  const { cookie } = req.headers;
  if (cookie === undefined || !cookie.includes(PASS_COOKIE) || !isOwnDoing(req, parts)) return [];
  const isSecure = isSecureAt(req, parts);
  const pairs = cookie.split(';').map((pair) => pair.trim());
  const scopes = new Map(places.flatMap(({ scope, cookiePath: path }) => (path === undefined ? [] : [[scope, path]])));
  const names = (scope: string) =>
    [...new Set([parts.site, formerSite(parts.site)])].flatMap((site) =>
      namesOf(site, scope, isSecure).map((name) => [name, site !== parts.site] as const),
    );
  return [...scopes].flatMap(([scope, path]) =>
    names(scope).flatMap(([name, isFormer]) => {
      const all = new Set(pairs.filter((it) => it.startsWith(`${name}=`)).map((it) => it.slice(name.length + 1)));
      if (all.size === 0) return [];
      const at = name.startsWith(HOST_PREFIX) ? EVERYWHERE : path;
      const tokens = [...all].slice(0, MOST_OF_A_NAME);
      return [{ tokens, isWhole: tokens.length === all.size, cookie: { name, path: at, isSecure }, scope, isFormer }];
    }),
  );
}

/** For the whole of a host, and for a part of it. */
function namesOf(site: string, scope: string, isSecure: boolean): readonly string[] {
  const digest = createHash('sha256').update(`${site}\n${scope}`).digest('hex').slice(0, DIGEST_LENGTH);
  const name = `${PASS_COOKIE}${digest}`;
  return isSecure ? [`${HOST_PREFIX}${name}`, `__Secure-${name}`] : [name];
}

/** By their names: two gates on one request may give out the same. */
const cookies = createRequestNote<ServerResponse, Map<string, string>>();

/**
 * Has a response set the cookie of a pass, beside those of its handler, whatever that does to them.
 * @param endsAt - when the pass ends, milliseconds since the epoch. Default: never, and the cookie lasts a year
 */
export function giveCookie(res: ServerResponse, cookie: PassCookie, token: string, endsAt = Number.POSITIVE_INFINITY) {
  const seconds = Math.min(LONGEST_SECONDS, Math.ceil((endsAt - Date.now()) / 1_000));
  if (seconds > 0) note(res, cookie, token, seconds);
}

/** Has a response take a cookie back. */
export function clearCookie(res: ServerResponse, cookie: PassCookie): void {
  note(res, cookie, '', 0);
}

function note(res: ServerResponse, { name, path, isSecure }: PassCookie, value: string, seconds: number): void {
  const text = `${name}=${value}; Path=${path}; Max-Age=${seconds}; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`;
  cookies.put(res, (cookies.of(res) ?? new Map<string, string>()).set(`${name} ${path}`, text));
}

/** Lets a response set the cookies of passes that are given out until its head is complete. Call before anything holds it. */
export const carryCookies: (res: ServerResponse) => void = headHook((res) => {
  const given = cookies.of(res);
  if (given === undefined || given.size === 0) return;
  const own = [res.getHeader('Set-Cookie') ?? []].flat().map(String);
  res.setHeader('Set-Cookie', [...own, ...given.values()]);
  // Several gates may have asked for it.
  given.clear();
});

/** What a cookie's path may consist of: a path that a client asks for must not add attributes. Browsers ignore longer ones. */
const PATH = /^\/[\w\-.~%!$&'()*+=:@/]{0,511}$/;
/** A segment that reads the same in every table of routes. */
const LITERAL = /^[\w.~%-]+$/;

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
  const outside = basePathOf(baseUrl);
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
