import type { Request } from 'express';

/**
 * Absolute address of a request as the client sees it.
 * @param baseUrl - address under which clients reach the server; default from the request
 */
export function absoluteUrl(req: Request, baseUrl: string | undefined): string {
  const origin =
    baseUrl === undefined ? `${req.protocol}://${req.get('host') ?? 'localhost'}` : baseUrl.replace(/\/+$/, '');
  return `${origin}${req.originalUrl}`;
}
