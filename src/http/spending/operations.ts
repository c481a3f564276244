import type { SpendingReports } from '../../gateway/figures/spending-report.js';
import { timeSteps } from '../../gateway/figures/time-steps.js';
import { mountAddress } from '../../middleware/gate/request-url.js';
import { networkOfSite } from '../../protocol/networks/pass-site.js';
import { seesMoneyOf } from '../framework/api-caller.js';
import { defineOperation } from '../framework/operation.js';
import { fillPath, RECEIPT_PATH } from '../framework/path.js';
import { type FindSlug, slugsOf } from '../framework/project-label.js';
import { readRange } from '../framework/range-query.js';
import { SPENDING_PATH, spendingQuery, spendingResponse } from './schemas.js';
import { spendingView } from './views.js';

/** What {@link SPENDING_OPERATIONS} work with. */
export interface SpendingOperationsParts {
  readonly report: SpendingReports;
  /** A project by its id, where it is not deleted. */
  readonly findProject: FindSlug;
  /** Address under which clients reach this server. Default: from the request. */
  readonly baseUrl?: string | undefined;
  /** Clock, milliseconds since the epoch. */
  readonly now: () => number;
}

const getSpending = defineOperation({
  method: 'get',
  path: SPENDING_PATH,
  id: 'getSpending',
  tag: 'Spending',
  summary: 'What you have spent by key, project and token, your budgets, and what is left of them',
  description:
    'Default: the last 30 days by day, the last year by month. A wallet sees all of its keys, and the budgets of the newest ' +
    '100; a service key sees itself, and of passes and payments of its wallet those of its kind of money, where both are sold.',
  scope: 'spending:read',
  takesTurns: true,
  query: spendingQuery,
  responses: { 200: { description: 'The spending.', schema: spendingResponse } },
  errors: ['validation_failed', 'not_found'],
  async handler({ req, caller, query }, { report, findProject, baseUrl, now }: SpendingOperationsParts) {
    const { key: keyId, project: projectId, network, mode, interval, ...range } = query;
    const steps = timeSteps({ interval, ...readRange(range) }, now());
    const origin = mountAddress(req, baseUrl);
    const receiptUrl = (id: string) => `${origin}${fillPath(RECEIPT_PATH, { id })}`;
    const found = await report({ caller, keyId, projectId, network, mode, steps });
    // All else in it is the key's own, or that of the wallet's keys.
    const passes = found.passes.filter(({ pass }) => seesMoneyOf(caller, networkOfSite(pass.site)));
    const responses = found.responses.filter((it) => seesMoneyOf(caller, it.network));
    const slugs = await slugsOf([...found.rows, ...found.credit], findProject);
    return spendingView({ ...found, passes, responses }, steps, { receiptUrl, slugs });
  },
});

/** `GET /api/v1/spending`: what the caller has spent, its budgets, and what is left of them. */
export const SPENDING_OPERATIONS = [getSpending];
