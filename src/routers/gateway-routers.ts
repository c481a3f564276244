import type { Router } from 'express';
import type { EmbeddedFacilitator } from '../facilitator/create-facilitator.js';
import type { Gateway } from '../gateway/gateway.js';
import type { Identity } from '../identity/types.js';
import { ANALYTICS_OPERATIONS } from './analytics-operations.js';
import { createAnalyticsRouter } from './analytics-router.js';
import { createApiCaller } from './api-caller.js';
import { CALL_OPERATIONS } from './call-operations.js';
import { EVENTS_OPERATIONS } from './events-operations.js';
import { createEventsRouter } from './events-router.js';
import { KEYS_OPERATIONS } from './keys-operations.js';
import { createKeysRouter } from './keys-router.js';
import { MARKETPLACE_OPERATIONS } from './marketplace-operations.js';
import { createMarketplaceRouter } from './marketplace-router.js';
import type { Operation } from './operation.js';
import { PAYOUTS_OPERATIONS } from './payouts-operations.js';
import { createPayoutsRouter } from './payouts-router.js';
import { PROJECTS_OPERATIONS } from './projects-operations.js';
import { createProjectsRouter } from './projects-router.js';
import { SPENDING_OPERATIONS } from './spending-operations.js';
import { createSpendingRouter } from './spending-router.js';
import { WEBHOOKS_OPERATIONS } from './webhooks-operations.js';
import { createWebhooksRouter } from './webhooks-router.js';

/** What {@link gatewayRouters} works with. */
export interface GatewayRoutersParts {
  readonly gateway: Gateway;
  readonly facilitator: EmbeddedFacilitator;
  readonly identity: Identity;
  readonly baseUrl?: string | undefined;
  readonly explorerUrl?: string | undefined;
}

/** Routers of `/api/v1`, and what the OpenAPI document says of them. */
export interface GatewayRouters {
  /** For owners and callers, by access token or service key. */
  readonly authenticated: readonly Router[];
  /** For anybody. */
  readonly open: readonly Router[];
  readonly operations: readonly Operation[];
}

/** Everything under `/api/v1` that a gateway brings. */
export function gatewayRouters(parts: GatewayRoutersParts): GatewayRouters {
  const { gateway, facilitator, identity, baseUrl, explorerUrl } = parts;
  const { keys, projects, analytics, spendingReports, webhooks, events, tail, payouts, describeToken, now } = gateway;
  const callers = { identity, keys, baseUrl };
  const callerFor = createApiCaller(callers);
  const ownedProject = (id: string, owner: string) => projects.get({ owner, id });
  const paying = { ownedProject, callerFor, facilitator, baseUrl, explorerUrl };
  return {
    authenticated: [
      createKeysRouter({ keys, callerFor, now }),
      createProjectsRouter({ projects, callerFor, baseUrl }),
      createAnalyticsRouter({ analytics, callerFor, ownedProject, describeToken, now }),
      createSpendingRouter({ report: spendingReports, callerFor, now }),
      createWebhooksRouter({ webhooks, callerFor, now }),
      createEventsRouter({ log: events, tail, callerFor, callers }),
      ...(payouts === undefined ? [] : [createPayoutsRouter({ payouts, ...paying })]),
    ],
    open: [createMarketplaceRouter({ marketplace: gateway.marketplace, baseUrl })],
    operations: [
      ...KEYS_OPERATIONS,
      ...PROJECTS_OPERATIONS,
      ...ANALYTICS_OPERATIONS,
      ...SPENDING_OPERATIONS,
      ...WEBHOOKS_OPERATIONS,
      ...EVENTS_OPERATIONS,
      ...(payouts === undefined ? [] : PAYOUTS_OPERATIONS),
      ...MARKETPLACE_OPERATIONS,
      ...CALL_OPERATIONS,
    ],
  };
}
