import type { Request } from 'express';
import { createRequestNote } from '../../lib/http/request-note.js';

/** The label of what no route has taken. */
export const UNMATCHED = 'unmatched';

const noted = createRequestNote<Request, string>();

/** Says which route a request is for, where Express does not know it. */
export function noteRoute(req: Request, pattern: string): void {
  noted.put(req, pattern);
}

/**
 * The pattern of a request's route as a label, never its path: a figure for each path that anybody asks for would fill the memory.
 * Express forgets what a router is mounted at, so that it is the pattern within that router.
 */
export function routeLabelOf(req: Request): string {
  const known = noted.of(req);
  if (known !== undefined) return known;
  const path: unknown = Reflect.get(Object(req.route), 'path');
  return path === undefined ? UNMATCHED : String(path);
}
