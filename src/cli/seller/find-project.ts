import type { z } from 'zod';
import { PROJECTS_PATHS, projectItemResponse } from '../../http/projects/schemas.js';
import { selectItem } from '../arguments/select-item.js';
import { type ServerSession, understood } from '../session/session.js';

/** A project as it stands in a list. */
export type ProjectItem = z.output<typeof projectItemResponse>;

/** The project of the signed-in wallet that a slug or an id names. */
export async function selectProject(session: ServerSession, name: string): Promise<ProjectItem> {
  const projects = (await session.list(PROJECTS_PATHS.all)).map((it) => understood(projectItemResponse, it));
  return selectItem(projects, { what: 'project', name, namesOf: ({ slug, id }) => [slug, id] });
}
