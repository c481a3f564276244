import type { ProjectRoute } from '../../storage/projects/project-routes.js';
import { routeName } from '../../storage/projects/project-routes.js';
import type { ProjectRecord } from '../../storage/projects/projects.js';
import { type CallRoute, callRoute, callRoutesAt } from './call-route.js';

/** A route that buyers can call, and what a call of it is asked for. */
export interface OfferedRoute {
  readonly route: ProjectRoute;
  /** A method that it takes. */
  readonly method: string;
  readonly at: CallRoute;
}

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

const known = new WeakMap<ProjectRecord, readonly OfferedRoute[]>();

/** The routes of a project that are free or have a price, in its order: none that is not for sale, and none that no call reaches. */
export function offeredRoutes(project: ProjectRecord): readonly OfferedRoute[] {
  const found = known.get(project) ?? (project.routes ?? []).flatMap((route) => offeredRoute(project, route) ?? []);
  known.set(project, found);
  return found;
}

/** What a call costs that is like no other; undefined where it is not for sale, or servers could take it for another. */
export function costOf(project: ProjectRecord, method: string, rest: string): CallRoute | undefined {
  return forSale(() => callRoute(project, { method, rest }));
}

/** The same for each method of one path. */
export function costsAt(project: ProjectRecord, path: string): (method: string) => CallRoute | undefined {
  const routeOf = callRoutesAt(project, { rest: path });
  return (method) => forSale(() => routeOf(method));
}

function forSale(cost: () => CallRoute): CallRoute | undefined {
  try {
    return cost();
  } catch {
    return undefined;
  }
}

/** A path with names for what differs in each call, as `:var1`; what stands for any rest is left out. */
export function namedPath(path: string): string {
  let names = 0;
  const segments = path.split('/').flatMap((it) => {
    if (it === '**') return [];
    names += it === '*' ? 1 : 0;
    return [it === '*' ? `:var${names}` : it];
  });
  return segments.join('/').replace(/\/$/, '');
}

function offeredRoute(project: ProjectRecord, route: ProjectRoute): OfferedRoute | undefined {
  if (route.deny !== undefined) return undefined;
  const costOfMethod = costsAt(project, namedPath(route.path).replaceAll(':', ''));
  for (const method of route.method === undefined ? METHODS : [route.method]) {
    const at = costOfMethod(method);
    const isIts = route.free === undefined ? at?.route === routeName(route) : at?.isFree;
    if (at !== undefined && isIts) return { route, method, at };
  }
  return undefined;
}
