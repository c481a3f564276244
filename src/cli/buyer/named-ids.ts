import { readableKey } from '../seller/find-key.js';
import { callableProject } from '../seller/find-project.js';
import type { ServerSession } from '../session/session.js';

/** What a buyer names in flags. */
export interface Named {
  readonly project?: string | undefined;
  readonly key?: string | undefined;
}

/** What a buyer names, by the ids that the server takes: one that it does not know is told, and not answered with nothing. */
export async function idsOf(session: ServerSession, { project, key }: Named): Promise<Named> {
  return {
    project: project === undefined ? undefined : await callableProject(session, project),
    key: key === undefined ? undefined : await readableKey(session, key),
  };
}
