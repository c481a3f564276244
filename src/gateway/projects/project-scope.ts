const PREFIX = 'project ';

/** What a pass of a project covers that is of no group: its calls, whatever its slug or address is. */
export function projectScope(projectId: string): string {
  return `${PREFIX}${projectId}`;
}

/** The id of the project whose calls a pass covers; undefined where it covers something else. */
export function projectIn(scope: string): string | undefined {
  return scope.startsWith(PREFIX) ? scope.slice(PREFIX.length) : undefined;
}
