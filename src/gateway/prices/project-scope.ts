const PREFIX = 'project ';

/**
 * What a pass of a project covers that is of no group: its calls, whatever its slug or address is.
 * @param route - name of the route that sold it. Default: the project
 */
export function projectScope(projectId: string, route?: string): string {
  return route === undefined ? `${PREFIX}${projectId}` : `${PREFIX}${projectId} route ${route}`;
}

/** The id of the project whose calls a pass covers; undefined where it covers something else. */
export function projectIn(scope: string): string | undefined {
  return scope.startsWith(PREFIX) ? scope.slice(PREFIX.length).split(' ', 1)[0] : undefined;
}
