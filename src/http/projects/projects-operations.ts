import type { ErrorCode } from '../../errors/errors.js';
import { CALLER_ERRORS } from '../framework/api-caller.js';
import type { Operation } from '../openapi/operation.js';
import { projectBody, projectPatch } from './project-schemas.js';
import { projectList, projectResponse } from './projects-responses.js';
import { projectsQuery } from './projects-router.js';

const TAG = 'Projects';
const PATH = '/api/v1/projects';
const PROJECT = { 200: { description: 'The project; its `ETag` names the version.', schema: projectResponse } };
const CHANGE_ERRORS: readonly ErrorCode[] = [...CALLER_ERRORS, 'project_not_found', 'precondition_failed'];
const WITH_IF_MATCH = 'With `If-Match` the version that it names is meant, and no other.';

/** Projects. */
export const PROJECTS_OPERATIONS: readonly Operation[] = [
  {
    method: 'post',
    path: PATH,
    id: 'createProject',
    tag: TAG,
    summary: 'Put a price in front of an upstream',
    body: projectBody,
    answers: {
      201: { description: 'The project; `Location` says where it is.', schema: projectResponse },
    },
    errors: [...CALLER_ERRORS, 'validation_failed', 'slug_taken', 'chain_unavailable', 'payment_backend_unavailable'],
  },
  {
    method: 'get',
    path: PATH,
    id: 'listProjects',
    tag: TAG,
    summary: 'Your projects, newest first',
    query: projectsQuery,
    answers: { 200: { description: 'One page of them.', schema: projectList } },
    errors: [...CALLER_ERRORS, 'validation_failed'],
  },
  {
    method: 'get',
    path: `${PATH}/:id`,
    id: 'getProject',
    tag: TAG,
    summary: 'One of your projects',
    answers: PROJECT,
    errors: [...CALLER_ERRORS, 'project_not_found'],
  },
  {
    method: 'patch',
    path: `${PATH}/:id`,
    id: 'updateProject',
    tag: TAG,
    summary: 'Change a project',
    description: `A merge patch (RFC 7396) of what it was made with: null takes away, lists are replaced. ${WITH_IF_MATCH}`,
    body: projectPatch,
    answers: PROJECT,
    errors: [...CHANGE_ERRORS, 'validation_failed', 'chain_unavailable', 'payment_backend_unavailable'],
  },
  {
    method: 'post',
    path: `${PATH}/:id/pause`,
    id: 'pauseProject',
    tag: TAG,
    summary: 'Refuse the calls of a project',
    description: WITH_IF_MATCH,
    answers: PROJECT,
    errors: CHANGE_ERRORS,
  },
  {
    method: 'post',
    path: `${PATH}/:id/resume`,
    id: 'resumeProject',
    tag: TAG,
    summary: 'Serve the calls of a project again',
    description: WITH_IF_MATCH,
    answers: PROJECT,
    errors: CHANGE_ERRORS,
  },
  {
    method: 'post',
    path: `${PATH}/:id/rotate-secret`,
    id: 'rotateGatewaySecret',
    tag: TAG,
    summary: 'Give a project another gateway secret',
    description: `For 24 hours calls are signed with both secrets. ${WITH_IF_MATCH}`,
    answers: PROJECT,
    errors: CHANGE_ERRORS,
  },
  {
    method: 'delete',
    path: `${PATH}/:id`,
    id: 'deleteProject',
    tag: TAG,
    summary: 'Delete a project for ever',
    description: `Its slug stays yours: nobody else can take it. ${WITH_IF_MATCH}`,
    answers: { 204: { description: 'It is deleted.' } },
    errors: CHANGE_ERRORS,
  },
];
