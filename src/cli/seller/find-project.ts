import type { z } from 'zod';
import { fillPath } from '../../http/framework/path.js';
import { MARKETPLACE_PATHS, marketProjectResponse } from '../../http/projects/marketplace-schemas.js';
import { PROJECTS_PATHS, projectItemResponse } from '../../http/projects/schemas.js';
import { selectItem } from '../arguments/select-item.js';
import { CommandError, RefusedError } from '../command.js';
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
  return selectItem(await ownProjects(session), {
    what: 'project',
    name,
    namesOf: ({ slug, id }) => [slug, id],
    gone: DELETED,
  });
}

/** The slugs of the projects of the signed-in wallet, by their ids. */
export async function ownSlugs(session: ServerSession): Promise<ReadonlyMap<string, string>> {
  return new Map((await ownProjects(session)).map(({ id, slug }) => [id, slug]));
}

/** The id of a project of which something is read; a deleted one, which no list has, is named by its id. */
export async function readableProject(session: ServerSession, name: string): Promise<string> {
  return ID.test(name) ? name : (await selectProject(session, name)).id;
}

/** The id of a project that is called, whosever it is: one that is not in the marketplace, and no project of the wallet, is named by its id. */
export async function callableProject(session: ServerSession, name: string): Promise<string> {
  if (ID.test(name)) return name;
  const found = (await ownProjects(session)).find(({ slug }) => slug === name);
  return found === undefined ? await listedProject(session, name) : found.id;
}

async function ownProjects(session: ServerSession): Promise<readonly ProjectItem[]> {
  return (await session.list(PROJECTS_PATHS.all)).map((it) => understood(projectItemResponse, it));
}

async function listedProject(session: ServerSession, slug: string): Promise<string> {
  try {
    return understood(marketProjectResponse, await session.get(fillPath(MARKETPLACE_PATHS.one, { slug }))).id;
  } catch (error) {
    if (!(error instanceof RefusedError) || error.status !== 404) throw error;
    throw new CommandError(
      `no project "${slug}" is in the marketplace, and none of yours is called so; one that is not listed is named by its id, ` +
        'which npx tollhouse calls --json tells',
    );
  }
}
