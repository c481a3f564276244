import { Router } from 'express';
import type { Holdings } from '../access/holdings.js';
import type { TiersOptions } from '../access/tiers.js';
import type { EmbeddedFacilitator } from '../facilitator/create-facilitator.js';
import type { Gateway } from '../gateway/gateway.js';
import type { WalletIdentity } from '../identity/create-identity.js';
import { resolveOptions } from '../lib/options.js';
import { cors } from '../middleware/gate/cors.js';
import { requestId } from '../middleware/gate/request-id.js';
import { idempotency } from '../middleware/idempotency/idempotency.js';
import { createRateLimits } from '../middleware/rate-limit/rate-limit.js';
import type { Counters } from '../storage/counters/counters.js';
import { createMemoryCounters } from '../storage/counters/memory-counters.js';
import { createAuthRouter } from './auth/auth-router.js';
import { type CallGates, type CallGatesParts, createCallGates, listedTerms } from './calls/call-gate.js';
import { createCallRouter, markOwnErrors } from './calls/call-router.js';
import { createCallServer } from './calls/serve-call.js';
import { createDiscoveryRouter } from './discovery/discovery-router.js';
import { createOpenApiRouter } from './document/openapi-router.js';
import { guardRoutes, passOthers } from './framework/guard-routes.js';
import { problemHandler } from './framework/problem-handler.js';
import { type GatewayRouters, gatewayRouters } from './gateway-routers.js';
import { createPaymentsRouter } from './payments/payments-router.js';
import { projectListings } from './projects/project-listings.js';
import { routerOptions } from './router-options.js';
import { createMetrics, type Metrics } from './service/metrics.js';
import { createMetricsRouter } from './service/metrics-router.js';
import { createProbesRouter } from './service/probes-router.js';
import { createServiceRouter } from './service/service-router.js';
import { createSettlementRouter } from './settlement/settlement-router.js';
import { createTokenGateRouter } from './token-gate/token-gate-router.js';

/** Options of {@link createRouter}. */
export interface RouterOptions {
  /** An embedded one: payments of our own making need a chain. */
  readonly facilitator: EmbeddedFacilitator;
  /** Who signs in; without it there are no sign-in endpoints. */
  readonly identity?: WalletIdentity;
  /**
   * Sells upstream APIs: `/v1/<slug>` and, with an `identity`, `/api/v1`. Default: neither is there. Start it and close it
   * yourself.
   */
  readonly gateway?: Gateway;
  /** Membership tiers. Default: `bronze`, `silver` and `gold` from 100, 1,000 and 10,000 USDC. */
  readonly tiers?: TiersOptions;
  /** What wallets hold. Default: what all gates on this facilitator share, at most 15 s old. */
  readonly holdings?: Holdings;
  /** Address under which clients reach this server, for links. Default: from the request. */
  readonly baseUrl?: string;
  /** Name that a wallet shows when it is asked to pay. Default `Tollhouse`. */
  readonly label?: string;
  /** Address of a block explorer, without `/tx/…`. Default: one that knows the network. */
  readonly explorerUrl?: string;
  /**
   * Limits per client address on all of these routes (service.md §1), each multiplied by `scale`; false for none. Default:
   * on. Behind a proxy the app must set `trust proxy`, or all clients count as one.
   */
  readonly limits?: false | { readonly scale?: number };
  /** Where limits are counted. Default: the `storage` of the facilitator, or this process's memory. */
  readonly counters?: Counters;
  /** Figures for `GET /metrics`, if more than these routes shall be counted. Default: some of the router's own. */
  readonly metrics?: Metrics;
}

/** Where projects are called. */
const CALLS = '/v1';
const NO_GATEWAY: GatewayRouters = { authenticated: [], open: [] };
const NO_LIMITS = { requests: [], signIns: [], challenges: [] };

/**
 * The whole service as one router, for an app of your own: `app.use(createRouter({ facilitator }))`. Its POSTs take an
 * `Idempotency-Key` (service.md §1); what was answered is kept in the facilitator's `idempotency`.
 * @throws TollhouseError `bad_option` when an option is missing or wrong
 */
export function createRouter(options: RouterOptions): Router {
  resolveOptions('createRouter', routerOptions, options);
  return assembleRouter(options);
}

function assembleRouter({
  facilitator,
  identity,
  gateway,
  tiers,
  holdings,
  limits,
  counters = facilitator.storage?.counters ?? createMemoryCounters(),
  metrics = createMetrics(facilitator),
  ...links
}: RouterOptions): Router {
  const { requests, signIns, challenges } = limits === false ? NO_LIMITS : createRateLimits({ counters, ...limits });
  const common = [requestId, metrics.count, cors];
  const repeatable = idempotency({ store: facilitator.idempotency });
  const { baseUrl } = links;
  const calls = gateway && callGates({ gateway, facilitator, baseUrl });
  const api = gateway && identity ? gatewayRouters({ gateway, facilitator, identity, ...links }) : NO_GATEWAY;
  const mounted = { signIn: identity !== undefined, api: api !== NO_GATEWAY, payouts: gateway?.payouts !== undefined };
  const open = [
    createServiceRouter(facilitator),
    createSettlementRouter({ facilitator, gateway, ...links }),
    createPaymentsRouter({ facilitator, gateway, ...links }),
    createTokenGateRouter({ facilitator, tiers, holdings }),
    createDiscoveryRouter({ facilitator, baseUrl, listed: gateway && calls && listedProjects(gateway, calls) }),
    createOpenApiRouter({ facilitator, mounted, baseUrl }),
    ...api.open,
  ];
  const signIn = identity === undefined ? [] : [createAuthRouter({ identity, baseUrl })];
  const router = Router();
  passOthers(router, [CALLS]);
  // Before the others, with whose many paths each call would be compared.
  if (gateway !== undefined && calls !== undefined) {
    const before = [...common, markOwnErrors, ...challenges];
    router.use(createCallRouter({ facilitator, gateway, gates: calls }, before));
  }
  guardRoutes(router, [createProbesRouter({ facilitator, counters }), createMetricsRouter(metrics)], common);
  guardRoutes(router, open, [...common, ...requests, repeatable]);
  guardRoutes(router, signIn, [...common, ...signIns, repeatable]);
  guardRoutes(router, api.authenticated, [...common, ...challenges, repeatable]);
  router.use(problemHandler);
  return router;
}

function callGates({
  gateway,
  ...parts
}: Omit<CallGatesParts, 'run' | 'gateway'> & { readonly gateway: Gateway }): CallGates {
  return createCallGates({ ...parts, gateway, run: createCallServer(gateway) });
}

function listedProjects({ projects }: Gateway, gates: CallGates) {
  return projectListings({ projects, termsOf: (project) => listedTerms(gates(project)) });
}
