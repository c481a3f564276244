import type { z } from 'zod';
import { projectItem } from '../../http/projects/projects-responses.js';
import { type ServerSession, understood } from '../session/session.js';
import { selectItem } from './select-item.js';

/** A project as it stands in a list. */
export type ProjectItem = z.output<typeof projectItem>;

/** Where projects are. */
export const PROJECTS_PATH = '/api/v1/projects';

/** The project of the signed-in wallet that a slug or an id names. */
export async function selectProject(session: ServerSession, name: string): Promise<ProjectItem> {
  const projects = (await session.list(PROJECTS_PATH)).map((it) => understood(projectItem, it));
  return selectItem(projects, { what: 'project', name, namesOf: ({ slug, id }) => [slug, id] });
}
