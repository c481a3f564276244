import { undisguised } from '../../lib/http/disguised-path.js';
import { trimEnd } from '../../lib/trim-end.js';

/** Where a call goes. */
export interface UpstreamTarget {
  /** Scheme, host and port. */
  readonly origin: string;
  /** Path and query, as they are sent. */
  readonly path: string;
}

const SEPARATORS = /[/\\]/;
/** One or two dots, with blanks before them that some servers trim, and what some cut off behind them. */
const DOTS = /^[\0-\x20]*\.{1,2}(?:[;?#\s\0-\x20]|$)/;
/** `new URL()` and its like leave these out wherever they stand. */
const LEFT_OUT = /[\t\n\r]/g;
const ENCODED = /%([\da-f]{2})/i;
const ALL_ENCODED = new RegExp(ENCODED, 'gi');
/** Nobody encodes more often than that with good intentions. */
const MAX_ENCODINGS = 4;
const FORBIDDEN = /[^\x21-\xff]|#/;

/**
 * Appends the rest of a caller's path to the address of an upstream, as it is written. Undefined where the rest could lead
 * out of the upstream's base path: dot segments, encoded once or several times, between any kind of slashes.
 * @param url - the upstream's address; a query of its own comes first
 * @param rest - begins with `/` or `?`, or is empty
 */
export function upstreamTarget(url: string, rest: string): UpstreamTarget | undefined {
  const [restPath = '', ...queries] = rest.split('?');
  if ((restPath !== '' && !restPath.startsWith('/')) || FORBIDDEN.test(rest) || hasDotSegments(restPath))
    return undefined;
  const { origin, pathname, search } = new URL(url);
  const path = restPath === '' ? pathname : `${basePath(pathname)}${restPath}`;
  const query = [search.slice(1), queries.join('?')].filter((it) => it !== '').join('&');
  return { origin, path: query === '' ? path : `${path}?${query}` };
}

/**
 * An address that an upstream's response names (`Location`), as callers reach it: below the upstream's base it becomes the
 * same place below `publicPath`. Other addresses stay as they are.
 * @param sent - where the answered request went
 */
export function publicLocation(location: string, url: string, sent: UpstreamTarget, publicPath: string): string {
  if (!URL.canParse(location, sent.origin + sent.path)) return location;
  const to = new URL(location, sent.origin + sent.path);
  const { host, pathname } = new URL(url);
  const base = basePath(pathname);
  if (to.host !== host || !(to.pathname === base || to.pathname.startsWith(`${base}/`))) return location;
  return publicPath + to.pathname.slice(base.length) + to.search + to.hash;
}

function basePath(pathname: string): string {
  return trimEnd(pathname, '/');
}

/** Whether some server takes a part of a path for a dot segment, however it is encoded: what it means then is for nobody to say. */
export function hasDotSegments(path: string): boolean {
  let plain = path;
  for (let layer = 0; ENCODED.test(plain); layer += 1) {
    if (layer === MAX_ENCODINGS || hasDots(undisguised(plain))) return true;
    plain = plain.replace(ALL_ENCODED, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)));
  }
  const lenient = undisguised(plain);
  // An escape that only some servers take for one may be of anything.
  return hasDots(plain) || hasDots(lenient) || ENCODED.test(lenient);
}

function hasDots(plain: string): boolean {
  const parts = plain.split(SEPARATORS);
  return parts.some((segment) => DOTS.test(segment) || DOTS.test(segment.replace(LEFT_OUT, '')));
}
