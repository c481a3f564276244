import type { ServerResponse } from 'node:http';
import type { Response } from 'express';
import { createRequestNote } from '../../lib/http/request-note.js';
import { headHook } from '../../lib/http/write-head.js';

/** The headers that a response was decided by, as `Vary` lists them. */
const decided = createRequestNote<ServerResponse, string>();

/**
 * Says in `Vary` that a response depends on these headers of its request, and notes them for {@link keepPrivate}.
 * @param names - separated by commas
 */
export function varyBy(res: Response, names: string): void {
  const before = decided.of(res);
  if (before === names) return;
  decided.put(res, before === undefined ? names : `${before}, ${names}`);
  addVary(res, names);
}

/**
 * Keeps a response out of caches that others share, whatever its handler says of caching, and tells the caller's own cache what
 * the response was decided by.
 */
export const keepPrivate: (res: ServerResponse) => void = headHook(setPrivate);

/**
 * Keeps what a response was decided by in its `Vary`, whatever its handler says there. A cache that heeds `Vary` may keep it for others
 * who are like its caller; a field that single caches heed before it is taken out, since those do not all look at `Vary`.
 */
export const keepVarying: (res: ServerResponse) => void = headHook(setVarying);

/** Lets no cache at all keep a response. */
export function keepUncached(res: Response): void {
  removeTargetedFields(res);
  res.setHeader('Cache-Control', 'no-store');
}

/** What {@link keepPrivate} does, for who adjusts the head of a response by himself. */
export function setPrivate(res: ServerResponse): void {
  setVarying(res);
  res.setHeader('Cache-Control', privateCacheControl(res.getHeader('Cache-Control')));
}

function setVarying(res: ServerResponse): void {
  removeTargetedFields(res);
  const names = decided.of(res);
  if (names !== undefined) addVary(res, names);
}

/** Says in `Vary` that a response depends on these headers of its request, where it does not say so yet. */
export function addVary(res: ServerResponse, names: string): void {
  const present = res.getHeader('Vary');
  if (present === undefined) res.setHeader('Vary', names);
  else if (present !== names) (res as Response).vary(names);
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
function removeTargetedFields(res: ServerResponse): void {
  for (const name of res.getHeaderNames()) if (isTargeted(name)) res.removeHeader(name);
}

/** Asked of every header of nearly every response: most end otherwise. */
function isTargeted(name: string): boolean {
  return name.endsWith('-control') ? TARGETED.test(name) : name === 'x-accel-expires';
}

const TARGETED = /(?:-cache|surrogate|^edge)-control$/;
