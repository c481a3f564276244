import type { Request, Response } from 'express';
import { type ErrorCode, TollhouseError } from '../../errors/errors.js';
import { mergePatch } from '../../gateway/projects/merge-patch.js';
import type { ProjectCaller } from '../../gateway/projects/new-project.js';
import type { ProjectDraft } from '../../gateway/projects/project-draft.js';
import type { DocumentedProject, ProjectRef, Projects } from '../../gateway/projects/projects.js';
import { mountAddress } from '../../middleware/gate/request-url.js';
import { noteNeededScopes } from '../../middleware/response/idempotency-notes.js';
import type { Suspensions } from '../../storage/owners/suspensions.js';
import type { ProjectRecord } from '../../storage/projects/projects.js';
import { type ApiCaller, seesMoneyOf } from '../framework/api-caller.js';
import { entityTag, ifMatch } from '../framework/entity-tag.js';
import { listResponse, readCursor } from '../framework/list-response.js';
import { defineOperation } from '../framework/operation.js';
import { fillPath } from '../framework/path.js';
import { readInput } from '../framework/read-input.js';
import { overlapOf, rotationBody } from '../framework/rotation.js';
import {
  PROJECTS_PATHS,
  projectBody,
  projectPatchBody,
  projectResponse,
  projectsCursor,
  projectsQuery,
  projectsResponse,
} from './schemas.js';
import { withPlainNames } from './upstream-views.js';
import { bodyFrom, draftFrom, projectItemView, projectView } from './views.js';

/** What {@link PROJECTS_OPERATIONS} work with. */
export interface ProjectsOperationsParts {
  readonly projects: Projects;
  /** What operators have suspended. Default: nothing. */
  readonly suspensions?: Pick<Suspensions, 'ofProject'> | undefined;
  /** Address under which clients reach this server. Default: from the request. */
  readonly baseUrl?: string | undefined;
}

interface Asked {
  readonly req: Request;
  readonly res: Response;
  readonly caller: ApiCaller;
  readonly params: { readonly id: string };
}

const TAG = 'Projects';
const PROJECT = { 200: { description: 'The project; its `ETag` names the version.', schema: projectResponse } };
const CHANGE_ERRORS: readonly ErrorCode[] = ['project_not_found', 'precondition_failed'];
const PAYEES = 'A service key that changes `split` needs the scope `payouts:write` as well.';
const PAYEES_END = 'A service key that deletes a project which pays others needs the scope `payouts:write` as well.';
const WITH_IF_MATCH = 'With `If-Match` the version that it names is meant, and no other.';

const createProject = defineOperation({
  method: 'post',
  path: PROJECTS_PATHS.all,
  id: 'createProject',
  tag: TAG,
  summary: 'Put a price in front of an upstream',
  description: PAYEES,
  scope: 'projects:write',
  admit({ projectId }: ApiCaller) {
    if (projectId === undefined) return;
    throw new TollhouseError('insufficient_scope', 'The service key is for one project, and cannot make another.');
  },
  body: projectBody,
  responses: { 201: { description: 'The project; `Location` says where it is.', schema: projectResponse } },
  errors: [
    'owner_not_allowed',
    'owner_suspended',
    'validation_failed',
    'slug_taken',
    'quota_reached',
    'secrets_key_missing',
    'chain_unavailable',
    'payment_backend_unavailable',
  ],
  async handler({ req, res, caller, body }, parts: ProjectsOperationsParts) {
    const made = await parts.projects.create(caller.wallet, draftFrom(body), rightsOf(caller));
    res.location(`${req.baseUrl}${fillPath(PROJECTS_PATHS.one, { id: made.project.id })}`);
    return shown({ req, res, caller }, made, parts);
  },
});

const listProjects = defineOperation({
  method: 'get',
  path: PROJECTS_PATHS.all,
  id: 'listProjects',
  tag: TAG,
  summary: 'Your projects, newest first',
  description:
    'A service key sees those of its kind of money, where both are sold: a page may be shorter then than the one after it.',
  scope: 'projects:read',
  takesTurns: true,
  query: projectsQuery,
  responses: { 200: { description: 'One page of them.', schema: projectsResponse } },
  errors: ['validation_failed'],
  async handler({ req, caller, query: { limit, cursor } }, parts: ProjectsOperationsParts) {
    const { projects, suspensions, baseUrl } = parts;
    const { wallet, projectId } = caller;
    const place = readCursor(cursor, projectsCursor);
    const after = place === undefined ? undefined : { createdAt: place[0], id: place[1] };
    const found =
      projectId === undefined
        ? await projects.list(wallet, limit + 1, after)
        : await onlyProject(projects, { owner: wallet, id: projectId });
    const page = listResponse(
      found,
      limit,
      ({ createdAt, id }) => [createdAt, id],
      (it) => it,
    );
    const origin = mountAddress(req, baseUrl);
    const data = page.data
      .filter(({ price }) => seesMoneyOf(caller, price.network))
      .map(async (it) => projectItemView(it, origin, await suspensions?.ofProject(it)));
    return { ...page, data: await Promise.all(data) };
  },
});

const getProject = defineOperation({
  method: 'get',
  path: PROJECTS_PATHS.one,
  id: 'getProject',
  tag: TAG,
  summary: 'One of your projects',
  scope: 'projects:read',
  admit: requireKeyOf,
  responses: PROJECT,
  errors: ['project_not_found'],
  handler: async (asked, parts: ProjectsOperationsParts) => shown(asked, await parts.projects.get(refOf(asked)), parts),
});

const updateProject = defineOperation({
  method: 'patch',
  path: PROJECTS_PATHS.one,
  id: 'updateProject',
  tag: TAG,
  summary: 'Change a project',
  description: `A merge patch (RFC 7396) of what it was made with: null takes away, lists are replaced. ${PAYEES} ${WITH_IF_MATCH}`,
  scope: 'projects:write',
  admit: requireKeyOf,
  takesTurns: true,
  body: projectPatchBody,
  responses: PROJECT,
  errors: [
    ...CHANGE_ERRORS,
    'validation_failed',
    'quota_reached',
    'secrets_key_missing',
    'secrets_key_unknown',
    'chain_unavailable',
    'payment_backend_unavailable',
  ],
  handler: async (asked, parts: ProjectsOperationsParts) =>
    shown(asked, await parts.projects.update(refOf(asked), editOf(withPlainNames(asked.body))), parts),
});

const pauseProject = defineOperation({
  method: 'post',
  path: PROJECTS_PATHS.pause,
  id: 'pauseProject',
  tag: TAG,
  summary: 'Refuse the calls of a project',
  description: WITH_IF_MATCH,
  scope: 'projects:write',
  admit: requireKeyOf,
  responses: PROJECT,
  errors: CHANGE_ERRORS,
  handler: async (asked, parts: ProjectsOperationsParts) =>
    shown(asked, await parts.projects.pause(refOf(asked)), parts),
});

const resumeProject = defineOperation({
  method: 'post',
  path: PROJECTS_PATHS.resume,
  id: 'resumeProject',
  tag: TAG,
  summary: 'Serve the calls of a project again',
  description: WITH_IF_MATCH,
  scope: 'projects:write',
  admit: requireKeyOf,
  responses: PROJECT,
  errors: CHANGE_ERRORS,
  handler: async (asked, parts: ProjectsOperationsParts) =>
    shown(asked, await parts.projects.resume(refOf(asked)), parts),
});

const rotateGatewaySecret = defineOperation({
  method: 'post',
  path: PROJECTS_PATHS.rotateSecret,
  id: 'rotateGatewaySecret',
  tag: TAG,
  summary: 'Give a project another gateway secret',
  description: `For 24 hours, or as long as is asked for, calls are signed with both secrets. A service key sees the new one with \`secrets:read\`. ${WITH_IF_MATCH}`,
  scope: 'projects:write',
  admit: requireKeyOf,
  body: rotationBody,
  bodyMayBeMissing: true,
  responses: PROJECT,
  errors: [...CHANGE_ERRORS, 'validation_failed'],
  handler: async (asked, parts: ProjectsOperationsParts) =>
    shown(asked, await parts.projects.rotateSecret(refOf(asked), overlapOf(asked.body)), parts),
});

const deleteProject = defineOperation({
  method: 'delete',
  path: PROJECTS_PATHS.one,
  id: 'deleteProject',
  tag: TAG,
  summary: 'Delete a project for ever',
  description: `Its slug is kept for you for 30 days; then anybody can take it. What you have written of it is forgotten. ${PAYEES_END} ${WITH_IF_MATCH}`,
  scope: 'projects:write',
  admit: requireKeyOf,
  responses: { 204: { description: 'It is deleted.' } },
  errors: CHANGE_ERRORS,
  async handler(asked, { projects }: ProjectsOperationsParts) {
    await projects.remove(refOf(asked));
  },
});

/**
 * `/api/v1/projects`: a wallet's projects, by its access token or a service key. Projects of others, and
 * with a key that is restricted to one project all the others, are not there.
 */
export const PROJECTS_OPERATIONS = [
  createProject,
  listProjects,
  getProject,
  updateProject,
  pauseProject,
  resumeProject,
  rotateGatewaySecret,
  deleteProject,
];

/** The list of a key that is restricted to one project, which may be deleted by now. */
async function onlyProject(projects: Projects, ref: ProjectRef): Promise<readonly ProjectRecord[]> {
  try {
    return [(await projects.get(ref)).project];
  } catch (error) {
    if (error instanceof TollhouseError && error.code === 'project_not_found') return [];
    throw error;
  }
}

/** For a key that is restricted to another project there is no such project. */
function requireKeyOf({ projectId }: ApiCaller, { id }: Asked['params']): void {
  if (projectId === undefined || projectId === id) return;
  throw new TollhouseError('project_not_found', 'The service key is for another project.');
}

/** The project that a request is about. */
function refOf({ req, caller, params }: Asked): ProjectRef {
  return { owner: caller.wallet, id: params.id, meantFor: ifMatch(req), ...rightsOf(caller) };
}

/** What of a caller's scopes is about single fields, and who it is. */
function rightsOf(caller: ApiCaller): ProjectCaller {
  return { setsPayees: caller.scopes.includes('payouts:write'), by: caller };
}

/** What a merge patch makes of a draft. */
function editOf(patch: unknown): (draft: ProjectDraft) => ProjectDraft {
  return (draft) => draftFrom(readInput(projectBody, mergePatch(withoutUndefined(bodyFrom(draft)), patch)));
}

/** As it would have come over the wire. */
function withoutUndefined(value: object): unknown {
  return JSON.parse(JSON.stringify(value));
}

async function shown(
  { req, res, caller }: Omit<Asked, 'params'>,
  found: DocumentedProject,
  { suspensions, baseUrl }: ProjectsOperationsParts,
) {
  res.setHeader('ETag', entityTag(found.project.version));
  const suspended = await suspensions?.ofProject(found.project);
  const showsSecrets = caller.scopes.includes('secrets:read');
  if (showsSecrets) noteNeededScopes(res, ['secrets:read']);
  return projectView(found, mountAddress(req, baseUrl), suspended, showsSecrets);
}
