import { METHODS } from 'node:http';
import { didYouMean } from '../../lib/did-you-mean.js';
import type { ProjectRoute } from '../../storage/projects/project-routes.js';

type Pattern = Pick<ProjectRoute, 'method' | 'path'>;

const MAX_PATTERN = 500;
/** Stands for any one segment that is not empty. */
export const ONE = '*';
/** Stands for any rest, also none. */
export const REST = '**';
/** What is the same however a server reads it. */
const LITERAL = /^[\w\-.~!$&'()+,=:@]+$/;

/** What is wrong with the method of a route; undefined when nothing is. */
export function methodFault(method: string | undefined): string | undefined {
  // No other method reaches a route: Node's parser refuses the request.
  if (method === undefined || METHODS.includes(method)) return undefined;
  const meant = didYouMean(method, METHODS);
  const hint = meant === undefined ? '' : `; did you mean "${meant}"?`;
  return `must be a method in capitals, such as GET, or left out for every method${hint}`;
}

/** What is wrong with the path of a route; undefined when nothing is. */
export function pathFault(path: string): string | undefined {
  if (path.length > MAX_PATTERN) return `must have at most ${MAX_PATTERN} characters`;
  if (!path.startsWith('/')) return 'must begin with "/": it is the path below /v1/<slug>';
  const segments = segmentsOf(path);
  const rest = segments.indexOf(REST);
  if (rest !== -1 && rest < segments.length - 1) return '"**" may only be the last segment: it stands for any rest';
  const wrong = segments.find((it) => it !== ONE && it !== REST && (!LITERAL.test(it) || /\.$/.test(it)));
  if (wrong === undefined) return undefined;
  if (wrong === '') return 'must not have two slashes in a row';
  return `must have segments of plain letters, digits and -._~!$&'()+,=:@ that do not end with ".", or "*" or "**", and "${wrong}" is none`;
}

/**
 * Whether a call is one that a pattern means. A slash at the end is none; `*` is one segment that is not empty, and `**` any rest,
 * also none. Where there are many patterns, `routeTable` finds those of a path.
 * @param path - one reading of the path
 */
export function matchesRoute(pattern: Pattern, method: string, path: string): boolean {
  if (!matchesMethod(pattern.method, method)) return false;
  const wanted = segmentsOf(pattern.path);
  const given = segmentsOf(path);
  const isOpen = wanted.at(-1) === REST;
  const fixed = isOpen ? wanted.slice(0, -1) : wanted;
  if (isOpen ? given.length < fixed.length : given.length !== fixed.length) return false;
  return fixed.every((it, at) => (it === ONE ? given[at] !== '' : it === given[at]));
}

/** Whether a method is one that a route takes. A response to `HEAD` tells of one to `GET`. */
export function matchesMethod(wanted: string | undefined, method: string): boolean {
  return wanted === undefined || wanted === method || (wanted === 'GET' && method === 'HEAD');
}

/** The segments of a path or a pattern; a slash at the end makes none. */
export function segmentsOf(path: string): readonly string[] {
  const inner = innerOf(path);
  return inner === '' ? [] : inner.split('/');
}

/** A path without the slashes at its ends. */
export function innerOf(path: string): string {
  return path.replace(/^\//, '').replace(/\/$/, '');
}
