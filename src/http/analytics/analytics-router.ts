import { type Request, type RequestHandler, Router } from 'express';
import { z } from 'zod';
import { TollhouseError } from '../../errors/errors.js';
import type { Analytics } from '../../gateway/figures/analytics.js';
import { timeSteps } from '../../gateway/figures/time-steps.js';
import { type DescribeToken, labelsOf } from '../../gateway/token-label.js';
import type { Scope } from '../../identity/service-keys/scopes.js';
import { callerOf } from '../framework/api-caller.js';
import { handled } from '../framework/handled.js';
import { listResponse, pageQuery, readCursor } from '../framework/list-response.js';
import { noStore } from '../framework/no-store.js';
import { problemHandler } from '../framework/problem-handler.js';
import { rangeQuery, readRange } from '../framework/range-query.js';
import { readBody } from '../framework/read-body.js';
import { refuseOtherMethods } from '../framework/refuse-other-methods.js';
import { analyticsCsv, analyticsView, callView } from './analytics-views.js';

/** Options of {@link createAnalyticsRouter}. */
export interface AnalyticsRouterOptions {
  readonly analytics: Analytics;
  /** Checks who is calling; made by `createApiCaller`. */
  readonly callerFor: (scope: Scope) => RequestHandler;
  /** Resolves when a wallet owns a project; rejects with `project_not_found` when it does not. */
  readonly ownedProject: (projectId: string, wallet: string) => Promise<unknown>;
  readonly describeToken: DescribeToken;
  /** Clock, milliseconds since the epoch. Default: the system's. */
  readonly now?: () => number;
}

const PREFIX = '/api/v1/projects/:project_id';
const SEQ = /^\d{1,18}$/;

/** Query of `GET /api/v1/projects/:project_id/analytics`. */
export const analyticsQuery = z.strictObject({
  ...rangeQuery,
  interval: z.enum(['hour', 'day'], 'must be hour or day').default('day').describe('Length of a step, in UTC.'),
  format: z
    .enum(['json', 'csv'], 'must be json or csv')
    .optional()
    .describe('Default: by the header `Accept`, which may ask for `text/csv`.'),
});

/** Query of `GET /api/v1/projects/:project_id/calls`. */
export const callsQuery = z.strictObject(pageQuery);

const callsCursor = z.tuple([z.string().regex(SEQ)]);

/** Figures of a project and its calls, for its owner (service.md §5). */
export function createAnalyticsRouter(options: AnalyticsRouterOptions): Router {
  const { analytics, callerFor, describeToken, now = Date.now } = options;
  const router = Router();
  const guards = [noStore, callerFor('analytics:read')];

  const analyze = handled(async (req, res) => {
    const { interval, format, ...range } = readBody(analyticsQuery, req.query);
    const steps = timeSteps({ interval, ...readRange(range) }, now());
    const found = await analytics.analyze(await ownProject(options, req), steps);
    res.vary('Accept');
    const wanted = format ?? (req.accepts(['json', 'text/csv']) === 'text/csv' ? 'csv' : 'json');
    if (wanted === 'json') return void res.json(analyticsView(found, steps));
    res.setHeader('Content-Disposition', 'attachment; filename="analytics.csv"');
    res.type('text/csv').send(analyticsCsv(found));
  });
  const list = handled(async (req, res) => {
    const { limit, cursor } = readBody(callsQuery, req.query);
    const [before] = readCursor(cursor, callsCursor) ?? [];
    const projectId = await ownProject(options, req);
    const found = await analytics.calls(projectId, limit + 1, before === undefined ? undefined : BigInt(before));
    const mints = found.flatMap(({ charge }) => charge?.mint ?? []);
    const tokens = await labelsOf(mints, describeToken);
    res.json(
      listResponse(
        found,
        limit,
        ({ seq }) => [String(seq)],
        (call) => callView(call, tokens),
      ),
    );
  });

  router
    .route(`${PREFIX}/analytics`)
    .get(...guards, analyze)
    .all(refuseOtherMethods('GET', 'HEAD'));
  router
    .route(`${PREFIX}/calls`)
    .get(...guards, list)
    .all(refuseOtherMethods('GET', 'HEAD'));
  router.use(problemHandler);
  return router;
}

/** The project in the path, if it is the caller's and its key may see it. */
async function ownProject({ ownedProject }: AnalyticsRouterOptions, req: Request): Promise<string> {
  const { wallet, projectId } = callerOf(req);
  const id = String(req.params['project_id']);
  if (projectId !== undefined && projectId !== id) {
    throw new TollhouseError('project_not_found', 'You have no project with this id.');
  }
  await ownedProject(id, wallet);
  return id;
}
