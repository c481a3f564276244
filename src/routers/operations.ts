import { ANALYTICS_OPERATIONS } from './analytics-operations.js';
import { AUTH_OPERATIONS } from './auth-operations.js';
import { CALL_OPERATIONS } from './call-operations.js';
import { EVENTS_OPERATIONS } from './events-operations.js';
import { KEYS_OPERATIONS } from './keys-operations.js';
import { MARKETPLACE_OPERATIONS } from './marketplace-operations.js';
import type { Mounted } from './mounted.js';
import type { Operation } from './operation.js';
import { PAYMENT_OPERATIONS } from './payment-operations.js';
import { PAYOUTS_OPERATIONS } from './payouts-operations.js';
import { PROJECTS_OPERATIONS } from './projects-operations.js';
import { DISCOVERY_OPERATIONS, SERVICE_OPERATIONS } from './service-operations.js';
import { SPENDING_OPERATIONS } from './spending-operations.js';
import { TOKEN_GATE_OPERATIONS } from './token-gate-operations.js';
import { WEBHOOKS_OPERATIONS } from './webhooks-operations.js';

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
