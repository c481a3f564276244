import type { Request } from 'express';

/** The `ETag` of a version. */
export function entityTag(version: number): string {
  return `"${version}"`;
}

/**
 * Whether a version is one that `If-Match` names (RFC 9110 §13.1.1), compared strongly: a weak tag names none. Undefined
 * where the request has no such header.
 */
export function ifMatch(req: Request): ((version: number) => boolean) | undefined {
  const header = req.get('if-match');
  if (header === undefined) return undefined;
  const tags = header.split(',').map((it) => it.trim());
  return (version) => tags.includes('*') || tags.includes(entityTag(version));
}
