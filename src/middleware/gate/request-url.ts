import type { Request } from 'express';
import { TollhouseError } from '../../errors/errors.js';
import { shown } from '../../lib/parsed.js';
import { trimEnd } from '../../lib/trim-end.js';

/** Scheme and host of a request target in absolute form. */
const AUTHORITY = /^[a-z][a-z\d+.-]*:\/\/[^/?#]*/i;

/**
 * Path and query as the client sent them. Of a target in absolute form, which every server must take (RFC 9112 §3.2.2), scheme
 * and host are left out: an address that is made by appending them to our own would be another site's.
 */
export function requestTarget({ originalUrl }: Request): string {
  if (originalUrl.startsWith('/')) return originalUrl;
  const rest = originalUrl.replace(AUTHORITY, '');
  return rest.startsWith('/') ? rest : `/${rest}`;
}

/**
 * Refuses a request that names a scheme of no site: `X-Forwarded-Proto` is anybody's where a proxy passes it on, and addresses that we
 * write begin with it.
 * @param baseUrl - the configured address, whose scheme goes before that of the request
 * @throws TollhouseError `invalid_request`
 */
export function requireSiteScheme(req: Request, baseUrl: string | undefined): void {
  // Express asks its settings for it each time.
  if (baseUrl !== undefined || req.headers['x-forwarded-proto'] === undefined) return;
  const { protocol } = req;
  if (/^https?$/i.test(protocol)) return;
  const detail = `${shown(protocol)} is not the scheme of an http(s) site; look at the X-Forwarded-Proto header of the request.`;
  throw new TollhouseError('invalid_request', detail);
}

/**
 * Scheme and host under which the client reached the server.
 * @param baseUrl - the configured one; default from the request
 */
export function requestOrigin(req: Request, baseUrl: string | undefined): string {
  return baseUrl === undefined ? `${req.protocol}://${req.headers.host ?? 'localhost'}` : trimEnd(baseUrl, '/');
}

/**
 * The host that a request asks, which may be all that tells one shop from another.
 * @param baseUrl - the configured address of all of them, however a proxy asks; default from the request
 */
export function requestHost(req: Request, baseUrl: string | undefined): string {
  return baseUrl === undefined ? (req.hostname ?? '').toLowerCase() : trimEnd(baseUrl, '/');
}

/**
 * Absolute address of a request as the client sees it.
 * @param baseUrl - address under which clients reach the server; default from the request
 */
export function absoluteUrl(req: Request, baseUrl: string | undefined): string {
  return `${requestOrigin(req, baseUrl)}${requestTarget(req)}`;
}

/**
 * Absolute address under which the client reaches the router that handles a request, wherever it is mounted.
 * @param baseUrl - address under which clients reach the server; default from the request
 */
export function mountAddress(req: Request, baseUrl: string | undefined): string {
  return `${requestOrigin(req, baseUrl)}${req.baseUrl}`;
}

/** Path of an address under which clients reach the server, without a slash at its end: what a proxy takes off. */
export function basePathOf(baseUrl: string | undefined): string {
  return baseUrl === undefined ? '' : trimEnd(new URL(baseUrl).pathname, '/');
}
