import type { Request } from 'express';

/**
 * Scheme and host under which the client reached the server.
 * @param baseUrl - the configured one; default from the request
 */
export function requestOrigin(req: Request, baseUrl: string | undefined): string {
  return baseUrl === undefined ? `${req.protocol}://${req.get('host') ?? 'localhost'}` : baseUrl.replace(/\/+$/, '');
}

/**
 * Absolute address of a request as the client sees it.
 * @param baseUrl - address under which clients reach the server; default from the request
 */
export function absoluteUrl(req: Request, baseUrl: string | undefined): string {
  return `${requestOrigin(req, baseUrl)}${req.originalUrl}`;
}

/**
 * Absolute address under which the client reaches the router that handles a request, wherever it is mounted.
 * @param baseUrl - address under which clients reach the server; default from the request
 */
export function mountAddress(req: Request, baseUrl: string | undefined): string {
  return `${requestOrigin(req, baseUrl)}${req.baseUrl}`;
}
