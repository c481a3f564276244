import type { z } from 'zod';
import { PROJECTS_PATHS, projectItemResponse } from '../../http/projects/schemas.js';
import { selectItem } from '../arguments/select-item.js';
import { type ServerSession, understood } from '../session/session.js';

/** A project as it stands in a list. */
export type ProjectItem = z.output<typeof projectItemResponse>;

/** No slug is written like it. */
const ID = /^prj_/;
const DELETED =
  'what stays of a deleted one is read by its id (npx tollhouse analytics, calls --of, payouts --project), ' +
  'which npx tollhouse events --types project.deleted tells';

/** The project of the signed-in wallet that a slug or an id names, unless it is deleted. */
export async function selectProject(session: ServerSession, name: string): Promise<ProjectItem> {
  const projects = (await session.list(PROJECTS_PATHS.all)).map((it) => understood(projectItemResponse, it));
  return selectItem(projects, { what: 'project', name, namesOf: ({ slug, id }) => [slug, id], gone: DELETED });
}

/** The id of a project of which something is read; a deleted one, which no list has, is named by its id. */
export async function readableProject(session: ServerSession, name: string): Promise<string> {
  return ID.test(name) ? name : (await selectProject(session, name)).id;
}
