import { CALLER_ERRORS } from '../framework/api-caller.js';
import type { Operation } from '../openapi/operation.js';
import { owedResponse, payoutRequestResponse, payoutsResponse } from './payouts-responses.js';
import { payoutsQuery } from './payouts-router.js';

const TAG = 'Payouts';
const PATH = '/api/v1/projects/:project_id/payouts';
const ERRORS = [...CALLER_ERRORS, 'project_not_found', 'chain_unavailable'] as const;

/** Payouts of what projects owe to the recipients of their splits; of deleted projects too. */
export const PAYOUTS_OPERATIONS: readonly Operation[] = [
  {
    method: 'get',
    path: PATH,
    id: 'listPayouts',
    tag: TAG,
    summary: 'Payouts of a project, newest first',
    query: payoutsQuery,
    answers: { 200: { description: 'One page of them.', schema: payoutsResponse } },
    errors: [...ERRORS, 'validation_failed'],
  },
  {
    method: 'get',
    path: `${PATH}/owed`,
    id: 'listOwed',
    tag: TAG,
    summary: 'What a project owes, by recipient and token',
    description:
      'Only what came in a payment with one transfer is owed; a payment of `/create-payment` goes to every recipient at once.',
    answers: { 200: { description: 'What is owed and is in no payout.', schema: owedResponse } },
    errors: ERRORS,
  },
  {
    method: 'post',
    path: PATH,
    id: 'requestPayouts',
    tag: TAG,
    summary: 'Pay out now what a project owes',
    description:
      'Recipients without a token account are left out and stay owed, and so are those who are owed too little to be worth a transaction: the answer says from which amount or time on they are paid. The network fee is ours. Payouts are also made without being asked for, above a threshold and after a day.',
    answers: {
      200: { description: 'Nothing can be paid.', schema: payoutRequestResponse },
      202: {
        description: 'Payouts are on their way; the list tells what becomes of them.',
        schema: payoutRequestResponse,
      },
    },
    errors: ERRORS,
  },
];
