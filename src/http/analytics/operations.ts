import type { Analytics } from '../../gateway/figures/analytics.js';
import { timeSteps } from '../../gateway/figures/time-steps.js';
import { sendCsv, wantsCsv } from '../framework/csv.js';
import { defineOperation } from '../framework/operation.js';
import { readRange } from '../framework/range-query.js';
import { type OwnedProject, ownProject } from './own-project.js';
import { ANALYTICS_PATHS, analyticsQuery, analyticsResponse } from './schemas.js';
import { analyticsCsv, analyticsView } from './views.js';

/** What {@link ANALYTICS_OPERATIONS} work with. */
export interface AnalyticsOperationsParts extends OwnedProject {
  readonly analytics: Analytics;
  /** Clock, milliseconds since the epoch. */
  readonly now: () => number;
}

const TAG = 'Analytics';
const ERRORS = ['validation_failed', 'project_not_found'] as const;

const getAnalytics = defineOperation({
  method: 'get',
  path: ANALYTICS_PATHS.analytics,
  id: 'getAnalytics',
  tag: TAG,
  summary: 'Calls, revenue, payers and durations of a project, by hour or day',
  description:
    'At most 1,000 steps, those in which nothing happened included. Default: the last 30 days by day, the last 24 hours by ' +
    'hour. The series is also answered as `text/csv`.',
  scope: 'analytics:read',
  takesTurns: true,
  query: analyticsQuery,
  responses: { 200: { description: 'The figures.', schema: analyticsResponse, mediaType: 'text/csv' } },
  errors: ERRORS,
  async handler({ req, res, caller, params, query }, parts: AnalyticsOperationsParts) {
    const { interval, format, ...range } = query;
    const steps = timeSteps({ interval, ...readRange(range) }, parts.now());
    const found = await parts.analytics.analyze(await ownProject(parts, caller, params.project_id), steps);
    if (!wantsCsv(req, res, format)) return analyticsView(found, steps);
    sendCsv(res, 'analytics', analyticsCsv(found));
    return undefined;
  },
});

/** Figures of a project, for its owner. */
export const ANALYTICS_OPERATIONS = [getAnalytics];
