import type { ProjectRoute } from '../../storage/projects/project-routes.js';
import { foldedPath, type Marks } from './folded-path.js';
import { innerOf, ONE, REST, segmentsOf } from './route-pattern.js';

/** Whether each letter counts as it is; else capitals and accents do not, as to many servers, and what marks are to them. */
export type Letters = 'exact' | Marks;

/** The routes of a project, read once, so that a path is soon told from those that it is not. */
export interface RouteTable {
  /** The routes of whose path a path is, whatever their methods, in the order of the project. */
  matching(path: string, letters: Letters): readonly ProjectRoute[];
}

/** A pattern as it is compared: a text, for lists of its segments would take many times its length, of each project that is known. */
interface ReadPattern {
  readonly route: ProjectRoute;
  /** Its segments but for the rest, with slashes between them. */
  readonly text: string;
  readonly count: number;
  /** Whether any rest may follow. */
  readonly isOpen: boolean;
}

const known = new WeakMap<readonly ProjectRoute[], RouteTable>();

/** The table of a list of routes, made once for each list. It finds what `matchesRoute` finds. */
export function routeTable(routes: readonly ProjectRoute[]): RouteTable {
  const found = known.get(routes) ?? newTable(routes);
  known.set(routes, found);
  return found;
}

function newTable(routes: readonly ProjectRoute[]): RouteTable {
  const exact = routes.map((route) => readPattern(route, route.path));
  // Patterns are plain letters.
  const folded = routes.map((route) => readPattern(route, route.path.toLowerCase()));
  return {
    matching(path, letters) {
      const isExact = letters === 'exact';
      const segments = segmentsOf(isExact ? path : foldedPath(path, letters));
      return (isExact ? exact : folded).filter((it) => isOf(it, segments)).map(({ route }) => route);
    },
  };
}

/** Without taking it apart: lists of projects are read anew at each look at the marketplace. */
function readPattern(route: ProjectRoute, path: string): ReadPattern {
  const inner = innerOf(path);
  const isOpen = inner === REST || inner.endsWith(`/${REST}`);
  const text = isOpen ? inner.slice(0, -REST.length - 1) : inner;
  return { route, text, count: countIn(text), isOpen };
}

function countIn(text: string): number {
  let count = text === '' ? 0 : 1;
  for (let at = text.indexOf('/'); at !== -1; at = text.indexOf('/', at + 1)) count += 1;
  return count;
}

function isOf({ text, count, isOpen }: ReadPattern, segments: readonly string[]): boolean {
  if (isOpen ? segments.length < count : segments.length !== count) return false;
  let from = 0;
  for (let at = 0; at < count; at += 1) {
    const given = segments[at] ?? '';
    // None of a pattern is empty.
    const taken = given !== '' && isSegmentAt(text, from, ONE) ? ONE : given;
    if (!isSegmentAt(text, from, taken)) return false;
    from += taken.length + 1;
  }
  return true;
}

function isSegmentAt(text: string, from: number, segment: string): boolean {
  const end = from + segment.length;
  return text.startsWith(segment, from) && (end === text.length || text[end] === '/');
}
