import { CALLER_ERRORS } from '../framework/api-caller.js';
import type { Operation } from '../openapi/operation.js';
import { spendingResponse } from './spending-responses.js';
import { spendingQuery } from './spending-router.js';

/** What keys spend. */
export const SPENDING_OPERATIONS: readonly Operation[] = [
  {
    method: 'get',
    path: '/api/v1/spending',
    id: 'getSpending',
    tag: 'Spending',
    summary: 'What you have spent by key, project and token, your budgets, and what is left of them',
    description:
      'Default: the last 30 days by day, the last year by month. A wallet sees all of its keys, and the budgets of the newest ' +
      '100; a service key sees itself.',
    query: spendingQuery,
    answers: { 200: { description: 'The spending.', schema: spendingResponse } },
    errors: [...CALLER_ERRORS, 'validation_failed', 'not_found'],
  },
];
