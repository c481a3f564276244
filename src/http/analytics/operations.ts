import type { Analytics } from '../../gateway/figures/analytics.js';
import { timeSteps } from '../../gateway/figures/time-steps.js';
import { findTimeZone } from '../../gateway/figures/time-zone.js';
import { sendCsv, wantsCsv } from '../framework/csv.js';
import { defineOperation } from '../framework/operation.js';
import { readRange } from '../framework/range-query.js';
import { type OwnedProject, ownProject } from './own-project.js';
import { ANALYTICS_PATHS, analyticsQuery, analyticsResponse } from './schemas.js';
import { analyticsCsv, analyticsView, routesCsv } from './views.js';

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
    'hour. Days and hours are those of UTC, or of the time zone that is named: its days have 23 or 25 hours where its clocks are ' +
    'changed. The series is also answered as `text/csv`.',
  scope: 'analytics:read',
  takesTurns: true,
  query: analyticsQuery,
  responses: { 200: { description: 'The figures.', schema: analyticsResponse, mediaType: 'text/csv' } },
  errors: ERRORS,
  async handler({ req, res, caller, params, query }, parts: AnalyticsOperationsParts) {
    const { interval, format, tz, by, ...range } = query;
    const zone = tz === undefined ? undefined : findTimeZone(tz);
    const steps = timeSteps({ interval, ...readRange(range), zone }, parts.now());
    const found = await parts.analytics.analyze(
      await ownProject(parts, caller, params.project_id),
      steps,
      by === 'route',
    );
    if (!wantsCsv(req, res, format)) return analyticsView(found, steps);
    if (by === 'route') sendCsv(res, 'routes', routesCsv(found));
    else sendCsv(res, 'analytics', analyticsCsv(found, steps));
    return undefined;
  },
});

/** Figures of a project, for its owner. */
export const ANALYTICS_OPERATIONS = [getAnalytics];
