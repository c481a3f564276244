import { type Request, type RequestHandler, type Response, Router } from 'express';
import { z } from 'zod';
import { TollhouseError } from '../../errors/errors.js';
import { mergePatch } from '../../gateway/projects/merge-patch.js';
import type { ProjectDraft } from '../../gateway/projects/project-draft.js';
import type { DocumentedProject, ProjectRef, Projects } from '../../gateway/projects/projects.js';
import type { Scope } from '../../identity/service-keys/scopes.js';
import { mountAddress } from '../../middleware/gate/request-url.js';
import type { ProjectRecord } from '../../storage/projects/projects.js';
import { callerOf } from '../framework/api-caller.js';
import { entityTag, ifMatch } from '../framework/entity-tag.js';
import { handled } from '../framework/handled.js';
import { jsonBody } from '../framework/json-body.js';
import { listResponse, pageQuery, readCursor } from '../framework/list-response.js';
import { noStore } from '../framework/no-store.js';
import { problemHandler } from '../framework/problem-handler.js';
import { readBody } from '../framework/read-body.js';
import { refuseOtherMethods } from '../framework/refuse-other-methods.js';
import { projectBody, projectIdText, projectPatch } from './project-schemas.js';
import { bodyFrom, draftFrom, projectItemView, projectView } from './project-views.js';

/** Options of {@link createProjectsRouter}. */
export interface ProjectsRouterOptions {
  readonly projects: Projects;
  /** Checks who is calling; made by `createApiCaller`. */
  readonly callerFor: (scope: Scope) => RequestHandler;
  /** Address under which clients reach this server. Default: from the request. */
  readonly baseUrl?: string | undefined;
}

/** Query of `GET /api/v1/projects`. */
export const projectsQuery = z.object(pageQuery);

const PATH = '/api/v1/projects';
const BODY_LIMIT = '100kb';
const placeKey = z.tuple([z.int(), projectIdText]);

/**
 * `/api/v1/projects` (service.md §5): a wallet's projects, by its access token or a service key. Projects of others, and
 * with a key that is restricted to one project all the others, are not there.
 */
export function createProjectsRouter(options: ProjectsRouterOptions): Router {
  const { projects, callerFor, baseUrl } = options;
  const router = Router();
  const [read, write, json] = [callerFor('projects:read'), callerFor('projects:write'), jsonBody(BODY_LIMIT)];
  const answered = (find: (ref: ProjectRef, req: Request) => Promise<DocumentedProject>) =>
    handled(async (req, res) => sendProject(req, res, await find(refOf(req), req), baseUrl));
  const list = handled(async (req, res) => void res.json(await listProjects(options, req)));
  const create = handled(async (req, res) => {
    const made = await projects.create(makerOf(req), draftFrom(readBody(projectBody, req.body)));
    res.status(201).location(`${req.baseUrl}${PATH}/${made.project.id}`);
    sendProject(req, res, made, baseUrl);
  });
  const update = answered((ref, req) => projects.update(ref, editOf(req)));
  const remove = handled(async (req, res) => {
    await projects.remove(refOf(req));
    res.status(204).end();
  });

  router
    .route(PATH)
    .all(noStore)
    .get(read, list)
    .post(...json, write, create)
    .all(refuseOtherMethods('GET', 'HEAD', 'POST'));
  router
    .route(`${PATH}/:id`)
    .all(noStore)
    .get(read, answered(projects.get))
    .patch(...json, write, update)
    .delete(write, remove)
    .all(refuseOtherMethods('GET', 'HEAD', 'PATCH', 'DELETE'));
  const actions = { pause: projects.pause, resume: projects.resume, 'rotate-secret': projects.rotateSecret };
  for (const [name, action] of Object.entries(actions)) {
    router.route(`${PATH}/:id/${name}`).post(noStore, write, answered(action)).all(refuseOtherMethods('POST'));
  }
  router.use(problemHandler);
  return router;
}

async function listProjects({ projects, baseUrl }: ProjectsRouterOptions, req: Request) {
  const { limit, cursor } = readBody(projectsQuery, req.query);
  const { wallet, projectId } = callerOf(req);
  const place = readCursor(cursor, placeKey);
  const after = place === undefined ? undefined : { createdAt: place[0], id: place[1] };
  const found =
    projectId === undefined
      ? await projects.list(wallet, limit + 1, after)
      : await onlyProject(projects, { owner: wallet, id: projectId });
  return listResponse(
    found,
    limit,
    ({ createdAt, id }) => [createdAt, id],
    (it) => projectItemView(it, mountAddress(req, baseUrl)),
  );
}

/** The list of a key that is restricted to one project, which may be deleted by now. */
async function onlyProject(projects: Projects, ref: ProjectRef): Promise<readonly ProjectRecord[]> {
  try {
    return [(await projects.get(ref)).project];
  } catch (error) {
    if (error instanceof TollhouseError && error.code === 'project_not_found') return [];
    throw error;
  }
}

/** The project that a request is about. */
function refOf(req: Request): ProjectRef {
  const { wallet, projectId } = callerOf(req);
  const id = String(req.params.id);
  if (projectId !== undefined && projectId !== id) {
    throw new TollhouseError('project_not_found', 'The service key is for another project.');
  }
  return { owner: wallet, id, meantFor: ifMatch(req) };
}

/** The wallet that makes a project. */
function makerOf(req: Request): string {
  const { wallet, projectId } = callerOf(req);
  if (projectId === undefined) return wallet;
  throw new TollhouseError('insufficient_scope', 'The service key is for one project, and cannot make another.');
}

/** What a merge patch makes of a draft. */
function editOf(req: Request): (draft: ProjectDraft) => ProjectDraft {
  const patch = readBody(projectPatch, req.body);
  return (draft) => draftFrom(readBody(projectBody, mergePatch(withoutUndefined(bodyFrom(draft)), patch)));
}

/** As it would have come over the wire. */
function withoutUndefined(value: object): unknown {
  return JSON.parse(JSON.stringify(value));
}

function sendProject(req: Request, res: Response, found: DocumentedProject, baseUrl: string | undefined): void {
  const showsSecret = callerOf(req).scopes.includes('projects:write');
  res.setHeader('ETag', entityTag(found.project.version));
  res.json(projectView(found, mountAddress(req, baseUrl), showsSecret));
}
