import { type RequestHandler, Router } from 'express';
import { z } from 'zod';
import type { SpendingReports } from '../../gateway/figures/spending-report.js';
import { timeSteps } from '../../gateway/figures/time-steps.js';
import type { Scope } from '../../identity/service-keys/scopes.js';
import { callerOf } from '../framework/api-caller.js';
import { handled } from '../framework/handled.js';
import { noStore } from '../framework/no-store.js';
import { problemHandler } from '../framework/problem-handler.js';
import { rangeQuery, readRange } from '../framework/range-query.js';
import { readBody } from '../framework/read-body.js';
import { refuseOtherMethods } from '../framework/refuse-other-methods.js';
import { spendingView } from './spending-views.js';

/** Options of {@link createSpendingRouter}. */
export interface SpendingRouterOptions {
  readonly report: SpendingReports;
  /** Checks who is calling; made by `createApiCaller`. */
  readonly callerFor: (scope: Scope) => RequestHandler;
  /** Clock, milliseconds since the epoch. Default: the system's. */
  readonly now?: () => number;
}

const MAX_ID = 64;
const id = z.string('must be a text').min(1, 'must not be empty').max(MAX_ID, `must have at most ${MAX_ID} characters`);

/** Query of `GET /api/v1/spending`. */
export const spendingQuery = z.strictObject({
  ...rangeQuery,
  key: id.optional().describe('Id of a service key. Default: all of the wallet; a key sees itself only.'),
  project: id.optional().describe('Id of a project. Default: all.'),
  interval: z.enum(['day', 'month'], 'must be day or month').default('day').describe('Length of a step, in UTC.'),
});

/** `GET /api/v1/spending`: what the caller has spent, its budgets, and what is left of them (service.md §5). */
export function createSpendingRouter({ report, callerFor, now = Date.now }: SpendingRouterOptions): Router {
  const router = Router();
  const answer = handled(async (req, res) => {
    const { key: keyId, project: projectId, interval, ...range } = readBody(spendingQuery, req.query);
    const steps = timeSteps({ interval, ...readRange(range) }, now());
    res.json(spendingView(await report({ caller: callerOf(req), keyId, projectId, steps }), steps));
  });
  router
    .route('/api/v1/spending')
    .get(noStore, callerFor('spending:read'), answer)
    .all(refuseOtherMethods('GET', 'HEAD'));
  router.use(problemHandler);
  return router;
}
