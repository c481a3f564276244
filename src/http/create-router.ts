import { Router } from 'express';
import { type Holdings, holdingsOf } from '../access/holdings.js';
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
import { AUTH_OPERATIONS } from './auth/operations.js';
import { type CallGates, type CallGatesParts, createCallGates, listedTerms } from './calls/call-gate.js';
import { createCallRoutes, markOwnErrors } from './calls/operations.js';
import { createCallServer } from './calls/serve-call.js';
import { DISCOVERY_OPERATIONS } from './discovery/operations.js';
import { guardRoutes, passOthers } from './framework/guard-routes.js';
import type { OperationDescription } from './framework/operation.js';
import { CALLS_PATH } from './framework/path.js';
import { problemHandler } from './framework/problem-handler.js';
import { createRoutes } from './framework/routes.js';
import { serviceInfo } from './framework/service-info.js';
import { type GatewayRoutes, gatewayRoutes } from './gateway-routes.js';
import { OPENAPI_OPERATIONS, openApiParts } from './openapi/operations.js';
import { PAYMENTS_OPERATIONS } from './payments/operations.js';
import { projectListings } from './projects/project-listings.js';
import { routerOptions } from './router-options.js';
import { createMetrics, type Metrics } from './service/metrics.js';
import { METRICS_OPERATIONS, SERVICE_OPERATIONS } from './service/operations.js';
import { PROBE_OPERATIONS } from './service/probes.js';
import { TOKEN_GATE_OPERATIONS, tokenGateParts } from './token-gate/operations.js';

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
   * Limits per client address on all of these routes, each multiplied by `scale`; false for none. Default:
   * on. Behind a proxy the app must set `trust proxy`, or all clients count as one.
   */
  readonly limits?: false | { readonly scale?: number };
  /** Where limits are counted. Default: the `storage` of the facilitator, or this process's memory. */
  readonly counters?: Counters;
  /** Figures for `GET /metrics`, if more than these routes shall be counted. Default: some of the router's own. */
  readonly metrics?: Metrics;
}

const NO_GATEWAY: GatewayRoutes = { authenticated: [], open: [] };
const NO_LIMITS = { requests: [], signIns: [], challenges: [] };

/**
 * The whole service as one router, for an app of your own: `app.use(createRouter({ facilitator }))`. Its POSTs take an
 * `Idempotency-Key`; what was answered is kept in the facilitator's `idempotency`.
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
  const gates = gateway && callGates({ gateway, facilitator, baseUrl });
  const listed = gateway && gates && listedProjects(gateway, gates);
  const operations = (): readonly OperationDescription[] => routes.flatMap((it) => it.operations);
  const service = () => serviceInfo(operations());
  const unlimited = [
    createRoutes(PROBE_OPERATIONS, { facilitator, counters }),
    createRoutes(METRICS_OPERATIONS, metrics),
  ];
  const state = createRoutes(SERVICE_OPERATIONS, { facilitator, holdings: holdingsOf(facilitator), service });
  const paying = [
    createRoutes(OPENAPI_OPERATIONS, openApiParts({ facilitator, operations, baseUrl })),
    createRoutes(PAYMENTS_OPERATIONS, { facilitator, gateway, ...links }),
    createRoutes(TOKEN_GATE_OPERATIONS, tokenGateParts({ facilitator, tiers, holdings })),
    createRoutes(DISCOVERY_OPERATIONS, { facilitator, service, baseUrl, listed }),
  ];
  const signIn = identity === undefined ? [] : [createRoutes(AUTH_OPERATIONS, { identity, baseUrl })];
  const api = gateway && identity ? gatewayRoutes({ gateway, facilitator, identity, ...links }) : NO_GATEWAY;
  const calls =
    gateway && gates
      ? [createCallRoutes({ facilitator, gateway, gates }, [...common, markOwnErrors, ...challenges])]
      : [];
  const routes = [
    state,
    ...unlimited,
    ...paying,
    ...signIn,
    ...api.authenticated,
    ...api.open,
    ...(api === NO_GATEWAY ? [] : calls),
  ];
  const router = Router();
  passOthers(router, [CALLS_PATH]);
  // Before the others, with whose many paths each call would be compared.
  for (const call of calls) router.use(call.router);
  guardRoutes(router, unlimited, common);
  guardRoutes(router, [state, ...paying, ...api.open], [...common, ...requests, repeatable]);
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
