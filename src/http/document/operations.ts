import { ANALYTICS_OPERATIONS } from '../analytics/analytics-operations.js';
import { AUTH_OPERATIONS } from '../auth/auth-operations.js';
import { CALL_OPERATIONS } from '../calls/call-operations.js';
import { EVENTS_OPERATIONS } from '../events/events-operations.js';
import { KEYS_OPERATIONS } from '../keys/keys-operations.js';
import type { Operation } from '../openapi/operation.js';
import { PAYMENT_OPERATIONS } from '../payments/payment-operations.js';
import { PAYOUTS_OPERATIONS } from '../payouts/payouts-operations.js';
import { MARKETPLACE_OPERATIONS } from '../projects/marketplace-operations.js';
import { PROJECTS_OPERATIONS } from '../projects/projects-operations.js';
import { DISCOVERY_OPERATIONS, SERVICE_OPERATIONS } from '../service/service-operations.js';
import { SPENDING_OPERATIONS } from '../spending/spending-operations.js';
import { TOKEN_GATE_OPERATIONS } from '../token-gate/token-gate-operations.js';
import { WEBHOOKS_OPERATIONS } from '../webhooks/webhooks-operations.js';
import type { Mounted } from './mounted.js';

/** What is mounted whatever the options. */
const ALWAYS = [...SERVICE_OPERATIONS, ...PAYMENT_OPERATIONS, ...TOKEN_GATE_OPERATIONS, ...DISCOVERY_OPERATIONS];

/** Everything that can be asked of what is mounted. */
export function operationsOf({ signIn, api, payouts }: Mounted): readonly Operation[] {
  return [...ALWAYS, ...(signIn ? AUTH_OPERATIONS : []), ...(api ? apiOperations(payouts) : [])];
}

function apiOperations(payouts: boolean): readonly Operation[] {
  return [
    ...KEYS_OPERATIONS,
    ...PROJECTS_OPERATIONS,
    ...ANALYTICS_OPERATIONS,
    ...SPENDING_OPERATIONS,
    ...WEBHOOKS_OPERATIONS,
    ...EVENTS_OPERATIONS,
    ...(payouts ? PAYOUTS_OPERATIONS : []),
    ...MARKETPLACE_OPERATIONS,
    ...CALL_OPERATIONS,
  ];
}
