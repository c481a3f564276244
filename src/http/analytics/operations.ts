import { TollhouseError } from '../../errors/errors.js';
import type { Analytics } from '../../gateway/figures/analytics.js';
import { timeSteps } from '../../gateway/figures/time-steps.js';
import { type DescribeToken, labelsOf } from '../../gateway/token-label.js';
import type { ApiCaller } from '../framework/api-caller.js';
import { listResponse, readCursor } from '../framework/list-response.js';
import { defineOperation } from '../framework/operation.js';
import { readRange } from '../framework/range-query.js';
import {
  ANALYTICS_PATHS,
  analyticsQuery,
  analyticsResponse,
  callsCursor,
  callsQuery,
  callsResponse,
} from './schemas.js';
import { analyticsCsv, analyticsView, callView } from './views.js';

/** What {@link ANALYTICS_OPERATIONS} work with. */
export interface AnalyticsOperationsParts {
  readonly analytics: Analytics;
  /** Resolves when a wallet owns a project, be it deleted since; rejects with `project_not_found` when it does not. */
  readonly ownedProject: (projectId: string, wallet: string) => Promise<unknown>;
  readonly describeToken: DescribeToken;
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
    res.vary('Accept');
    const wanted = format ?? (req.accepts(['json', 'text/csv']) === 'text/csv' ? 'csv' : 'json');
    if (wanted === 'json') return analyticsView(found, steps);
    res.setHeader('Content-Disposition', 'attachment; filename="analytics.csv"');
    res.type('text/csv').send(analyticsCsv(found));
    return undefined;
  },
});

const listCalls = defineOperation({
  method: 'get',
  path: ANALYTICS_PATHS.calls,
  id: 'listCalls',
  tag: TAG,
  summary: 'Calls of a project that reached its upstream, newest first',
  scope: 'analytics:read',
  takesTurns: true,
  query: callsQuery,
  responses: { 200: { description: 'One page of them.', schema: callsResponse } },
  errors: ERRORS,
  async handler({ caller, params, query: { limit, cursor } }, parts: AnalyticsOperationsParts) {
    const [before] = readCursor(cursor, callsCursor) ?? [];
    const projectId = await ownProject(parts, caller, params.project_id);
    const found = await parts.analytics.calls(projectId, limit + 1, before === undefined ? undefined : BigInt(before));
    const mints = found.flatMap(({ charge, credit }) =>
      [charge?.mint, credit?.charge.mint].filter((it) => it !== undefined),
    );
    const tokens = await labelsOf(mints, parts.describeToken);
    return listResponse(
      found,
      limit,
      ({ seq }) => [String(seq)],
      (call) => callView(call, tokens),
    );
  },
});

/** Figures of a project and its calls, for its owner. */
export const ANALYTICS_OPERATIONS = [getAnalytics, listCalls];

/** The project in the path, if it is the caller's and its key may see it. */
async function ownProject(
  { ownedProject }: AnalyticsOperationsParts,
  { wallet, projectId }: ApiCaller,
  id: string,
): Promise<string> {
  if (projectId !== undefined && projectId !== id) {
    throw new TollhouseError('project_not_found', 'You have no project with this id.');
  }
  await ownedProject(id, wallet);
  return id;
}
