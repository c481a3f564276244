import type { Response } from 'express';
import { isHeadSent } from '../../lib/http/intercept-methods.js';
import { onHeaders, writeHeadLater } from '../../lib/http/write-head.js';
import { createRequestNote } from './request-note.js';

/** The headers that a response was decided by, as `Vary` lists them. */
const decided = createRequestNote<Response, string>();

/**
 * Says in `Vary` that a response depends on these headers of its request, and notes them for {@link keepPrivate}.
 * @param names - separated by commas
 */
export function varyBy(res: Response, names: string): void {
  const before = decided.of(res);
  if (before === names) return;
  decided.put(res, before === undefined ? names : `${before}, ${names}`);
  if (res.hasHeader('Vary')) res.vary(names);
  else res.setHeader('Vary', names);
}

/**
 * Keeps a response out of caches that others share, whatever its handler says of caching, and tells the caller's own cache what
 * the response was decided by.
 */
export function keepPrivate(res: Response): void {
  if (!Object.hasOwn(res, 'writeHead')) res.writeHead = writeHeadPrivately;
  // Somebody has put a function of his own over it; he is called after us.
  else if (res.writeHead !== writeHeadPrivately) onHeaders(res, () => setPrivate(res));
}

/** Lets no cache at all keep a response. */
export function keepUncached(res: Response): void {
  removeTargetedFields(res);
  res.setHeader('Cache-Control', 'no-store');
}

/** One function for all responses: a closure for each costs more than everything else that a gate does to a response. */
function writeHeadPrivately(this: Response, status: number, ...rest: unknown[]): Response {
  const original = Reflect.get(Object.getPrototypeOf(this), 'writeHead');
  if (isHeadSent(this)) return Reflect.apply(original, this, [status, ...rest]);
  writeHeadLater(this, status, rest);
  setPrivate(this);
  return Reflect.apply(original, this, [this.statusCode]);
}

function setPrivate(res: Response): void {
  removeTargetedFields(res);
  res.setHeader('Cache-Control', privateCacheControl(res.getHeader('Cache-Control')));
  const names = decided.of(res);
  if (names === undefined || res.getHeader('Vary') === names) return;
  if (res.hasHeader('Vary')) res.vary(names);
  else res.setHeader('Vary', names);
}

/** `Cache-Control` of a response that is its caller's: never in a cache that others share, otherwise as the handler wants it. */
export function privateCacheControl(value: unknown): string {
  if (value === undefined) return 'private';
  const directives = String(value ?? '')
    .split(',')
    .map((it) => it.trim());
  const kept = directives.filter((it) => it !== '' && !SHARED_DIRECTIVE.test(it));
  return kept.some((it) => /^no-store$/i.test(it)) ? kept.join(', ') : ['private', ...kept].join(', ');
}

/** What lets shared caches keep a response, and `must-understand`, which would take a `no-store` back (RFC 9111 §5.2.2.3). */
const SHARED_DIRECTIVE = /^(public$|s-maxage|private$|must-understand$)/i;

/**
 * Fields that single caches heed before `Cache-Control`, so that `private` there would not count: `CDN-Cache-Control` and its like
 * (RFC 9213), which all end alike, `Surrogate-Control` (Edge Architecture), nginx's `X-Accel-Expires`, Akamai's `Edge-Control`.
 */
function removeTargetedFields(res: Response): void {
  for (const name of res.getHeaderNames()) {
    if (name.endsWith('-cache-control') || name.endsWith('surrogate-control') || TARGETED.has(name))
      res.removeHeader(name);
  }
}

const TARGETED: ReadonlySet<string> = new Set(['x-accel-expires', 'edge-control']);
