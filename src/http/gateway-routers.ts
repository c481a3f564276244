import type { Router } from 'express';
import type { EmbeddedFacilitator } from '../facilitator/create-facilitator.js';
import type { Gateway } from '../gateway/gateway.js';
import type { Identity } from '../identity/types.js';
import { createAnalyticsRouter } from './analytics/analytics-router.js';
import { createEventsRouter } from './events/events-router.js';
import { createApiCaller } from './framework/api-caller.js';
import { createKeysRouter } from './keys/keys-router.js';
import { createPayoutsRouter } from './payouts/payouts-router.js';
import { createMarketplaceRouter } from './projects/marketplace-router.js';
import { createProjectsRouter } from './projects/projects-router.js';
import { createSpendingRouter } from './spending/spending-router.js';
import { createWebhooksRouter } from './webhooks/webhooks-router.js';

/** What {@link gatewayRouters} works with. */
export interface GatewayRoutersParts {
  readonly gateway: Gateway;
  readonly facilitator: EmbeddedFacilitator;
  readonly identity: Identity;
  readonly baseUrl?: string | undefined;
  readonly explorerUrl?: string | undefined;
}

/** Routers of `/api/v1`. */
export interface GatewayRouters {
  /** For owners and callers, by access token or service key. */
  readonly authenticated: readonly Router[];
  /** For anybody. */
  readonly open: readonly Router[];
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
  };
}
