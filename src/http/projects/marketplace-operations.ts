import type { Operation } from '../openapi/operation.js';
import { marketList, marketProject } from './marketplace-responses.js';
import { marketQuery } from './marketplace-router.js';

const TAG = 'Marketplace';
const PATH = '/api/v1/marketplace';

/** What is for sale. */
export const MARKETPLACE_OPERATIONS: readonly Operation[] = [
  {
    method: 'get',
    path: PATH,
    id: 'searchMarketplace',
    tag: TAG,
    summary: 'Listed projects',
    description: 'Calls that are made while you read page after page may move a project to a page that you have read.',
    query: marketQuery,
    answers: { 200: { description: 'One page of them.', schema: marketList } },
    errors: ['validation_failed', 'store_unavailable'],
  },
  {
    method: 'get',
    path: `${PATH}/:slug`,
    id: 'getMarketplaceProject',
    tag: TAG,
    summary: 'One listed project',
    answers: { 200: { description: 'The project, with its own OpenAPI document.', schema: marketProject } },
    errors: ['project_not_found', 'store_unavailable'],
  },
];
