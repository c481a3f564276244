import type { Operation } from '../openapi/operation.js';
import { accessResponse, tiersResponse, tokensResponse, walletTierResponse } from './token-gate-responses.js';
import { checkAccessBody, getTierQuery } from './token-gate-router.js';

const TAG = 'Token gate';

/** What wallets hold, and what that would open. */
export const TOKEN_GATE_OPERATIONS: readonly Operation[] = [
  {
    method: 'post',
    path: '/token-gate/check-access',
    id: 'checkAccess',
    tag: TAG,
    summary: 'Whether a wallet holds enough of a token',
    description: 'A report. A wallet that is named here has proven nothing.',
    body: checkAccessBody,
    answers: { 200: { description: 'The balance, and whether it is enough.', schema: accessResponse } },
    errors: ['invalid_wallet', 'invalid_token', 'invalid_amount', 'chain_unavailable'],
  },
  {
    method: 'get',
    path: '/token-gate/get-tier',
    id: 'getTier',
    tag: TAG,
    summary: 'The tier that a wallet reaches',
    query: getTierQuery,
    answers: { 200: { description: 'The tier, and what is missing for the next.', schema: walletTierResponse } },
    errors: ['invalid_wallet', 'chain_unavailable'],
  },
  {
    method: 'get',
    path: '/token-gate/tiers',
    id: 'listTiers',
    tag: TAG,
    summary: 'All tiers, from the lowest to the highest',
    answers: { 200: { description: 'The tiers, and the token that decides.', schema: tiersResponse } },
  },
  {
    method: 'get',
    path: '/token-gate/accepted-tokens',
    id: 'listTokens',
    tag: TAG,
    summary: 'Tokens that are known by symbol',
    answers: { 200: { description: 'The tokens.', schema: tokensResponse } },
  },
];
