import { CALLER_ERRORS } from '../framework/api-caller.js';
import type { Operation } from '../openapi/operation.js';
import { analyticsResponse, callsResponse } from './analytics-responses.js';
import { analyticsQuery, callsQuery } from './analytics-router.js';

const TAG = 'Analytics';
const ERRORS = [...CALLER_ERRORS, 'validation_failed', 'project_not_found'] as const;

/** Figures of projects. */
export const ANALYTICS_OPERATIONS: readonly Operation[] = [
  {
    method: 'get',
    path: '/api/v1/projects/:project_id/analytics',
    id: 'getAnalytics',
    tag: TAG,
    summary: 'Calls, revenue, payers and durations of a project, by hour or day',
    description:
      'At most 1,000 steps, those in which nothing happened included. Default: the last 30 days by day, the last 24 hours by ' +
      'hour. The series is also answered as `text/csv`.',
    query: analyticsQuery,
    answers: { 200: { description: 'The figures.', schema: analyticsResponse, mediaType: 'text/csv' } },
    errors: ERRORS,
  },
  {
    method: 'get',
    path: '/api/v1/projects/:project_id/calls',
    id: 'listCalls',
    tag: TAG,
    summary: 'Calls of a project that reached its upstream, newest first',
    query: callsQuery,
    answers: { 200: { description: 'One page of them.', schema: callsResponse } },
    errors: ERRORS,
  },
];
