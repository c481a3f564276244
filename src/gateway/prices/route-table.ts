import type { ProjectRoute } from '../../storage/projects/project-routes.js';
import { ONE, REST, segmentsOf } from './route-pattern.js';

/** Whether capitals and small letters are the same, as they are to many servers. */
export type Letters = 'exact' | 'any';

/** The routes of a project, arranged so that a path is compared with those only that begin as it does. */
export interface RouteTable {
  /** The routes of whose path a path is, whatever their methods, in the order of the project. */
  matching(path: string, letters: Letters): readonly ProjectRoute[];
}

/** What routes have in common up to a segment. */
interface Branch {
  readonly named: Map<string, Branch>;
  any?: Branch;
  /** Places of the routes that end here, and of those for which any rest may follow. */
  readonly ending: number[];
  readonly open: number[];
}

const known = new WeakMap<readonly ProjectRoute[], RouteTable>();

/** The table of a list of routes, made once for each list. It finds what `matchesRoute` finds. */
export function routeTable(routes: readonly ProjectRoute[]): RouteTable {
  const found = known.get(routes) ?? newTable(routes);
  known.set(routes, found);
  return found;
}

function newTable(routes: readonly ProjectRoute[]): RouteTable {
  const trees = {
    exact: treeOf(routes.map(({ path }) => path)),
    any: treeOf(routes.map(({ path }) => path.toLowerCase())),
  };
  return {
    matching(path, letters) {
      const places = placesIn(trees[letters], segmentsOf(letters === 'any' ? path.toLowerCase() : path));
      return places.sort((one, other) => one - other).flatMap((at) => routes[at] ?? []);
    },
  };
}

function treeOf(patterns: readonly string[]): Branch {
  const root = newBranch();
  for (const [place, pattern] of patterns.entries()) {
    const segments = segmentsOf(pattern);
    const isOpen = segments.at(-1) === REST;
    const end = (isOpen ? segments.slice(0, -1) : segments).reduce(branchAt, root);
    (isOpen ? end.open : end.ending).push(place);
  }
  return root;
}

function branchAt(branch: Branch, segment: string): Branch {
  if (segment === ONE) {
    branch.any ??= newBranch();
    return branch.any;
  }
  const next = branch.named.get(segment) ?? newBranch();
  branch.named.set(segment, next);
  return next;
}

function newBranch(): Branch {
  return { named: new Map(), ending: [], open: [] };
}

/** Each branch is looked at once at most, for each has its own depth. */
function placesIn(root: Branch, segments: readonly string[]): number[] {
  const places = [...root.open];
  let branches: readonly Branch[] = [root];
  for (const segment of segments) {
    branches = branches.flatMap((it) => following(it, segment));
    if (branches.length === 0) break;
    for (const { open } of branches) places.push(...open);
  }
  for (const { ending } of branches) places.push(...ending);
  return places;
}

function following({ named, any }: Branch, segment: string): readonly Branch[] {
  return [named.get(segment), segment === '' ? undefined : any].filter((it) => it !== undefined);
}
