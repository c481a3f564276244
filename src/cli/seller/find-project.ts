import type { z } from 'zod';
import { projectItem } from '../../http/projects/projects-responses.js';
import { type Session, understood } from '../session/session.js';
import { pick } from './select-item.js';

/** A project as it stands in a list. */
export type ProjectItem = z.output<typeof projectItem>;

/** Where projects are. */
export const PROJECTS_PATH = '/api/v1/projects';

/** The project of the signed-in wallet that a slug or an id names. */
export async function findProject(session: Session, name: string): Promise<ProjectItem> {
  const projects = (await session.list(PROJECTS_PATH)).map((it) => understood(projectItem, it));
  return pick(projects, { what: 'project', name, namesOf: ({ slug, id }) => [slug, id] });
}
