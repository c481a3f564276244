import { type Request, type RequestHandler, Router } from 'express';
import type { Holdings } from '../access/holdings.js';
import type { TiersOptions } from '../access/tiers.js';
import { walletOwner } from '../facilitator/backend/wallet-owner.js';
import type { EmbeddedFacilitator } from '../facilitator/create-facilitator.js';
import { type FacilitatorsOption, hasSeveral, networksOf } from '../facilitator/networks/networks.js';
import type { Gateway } from '../gateway/gateway.js';
import type { WalletIdentity } from '../identity/create-identity.js';
import { noteSite } from '../identity/identity-site.js';
import type { ServiceKey } from '../identity/service-keys/service-key-types.js';
import { defined } from '../lib/defined.js';
import { resolveOptions } from '../lib/options.js';
import { cors } from '../middleware/gate/cors.js';
import { beyondLimitSeconds } from '../middleware/gate/locked-out.js';
import { requestId } from '../middleware/gate/request-id.js';
import { requireSiteScheme } from '../middleware/gate/request-url.js';
import { idempotency } from '../middleware/idempotency/idempotency.js';
import { createRateLimits } from '../middleware/rate-limit/rate-limit.js';
import { checkServiceKey } from '../middleware/service-key/read-service-key.js';
import type { PageOptions } from '../pages/layout/page-options.js';
import type { Counters } from '../storage/counters/counters.js';
import { createMemoryCounters } from '../storage/counters/memory-counters.js';
import { markOwnErrors, noteStepOfCall } from './calls/operations.js';
import { guardRoutes, passOthers } from './framework/guard-routes.js';
import { CALLS_PATH } from './framework/path.js';
import { problemHandler } from './framework/problem-handler.js';
import { problemPages } from './framework/problem-pages.js';
import { noteFacilitationStep } from './payments/facilitation-steps.js';
import { routerOptions, routerOptionsOfSeveral } from './router-options.js';
import { createMetrics, type Metrics } from './service/metrics.js';
import { serviceRoutes, serviceShells } from './service-routes.js';

/** Options of {@link createRouter}. Facilitators are embedded ones: payments of our own making need a chain. */
export type RouterOptions = RouterSettings & FacilitatorsOption<EmbeddedFacilitator>;

/** What is said of a router beside its facilitators. */
export interface RouterSettings {
  /** Who signs in; without it there are no sign-in endpoints. */
  readonly identity?: WalletIdentity | undefined;
  /**
   * Sells upstream APIs: `/v1/<slug>` and, with an `identity`, `/api/v1`. Default: neither is there. Start it and close it
   * yourself.
   */
  readonly gateway?: Gateway | undefined;
  /** Membership tiers. Default: `bronze`, `silver` and `gold` from 100, 1,000 and 10,000 USDC. */
  readonly tiers?: TiersOptions | undefined;
  /** What wallets hold on the first network. Default: what all gates on this facilitator share, at most 15 s old. */
  readonly holdings?: Holdings | undefined;
  /**
   * Address under which clients reach this server, for links and as the name that sign-ins are for. Default: from the request,
   * and sign-ins at loopback hosts only.
   */
  readonly baseUrl?: string | undefined;
  /** Name that a wallet shows when it is asked to pay. Default `Tollhouse`. */
  readonly label?: string | undefined;
  /**
   * How its pages for people look, the paywall pages of its projects among them, and what they say; false for none, and no `/docs`.
   * Default: ours, in the reader's language. Programs get JSON at the same addresses.
   */
  readonly page?: PageOptions | false | undefined;
  /** Address of a block explorer, without `/tx/…`. Default: one that knows the network. */
  readonly explorerUrl?: string | undefined;
  /**
   * Limits per client address on all of these routes, and on `/api/v1` per wallet, each multiplied by `scale`; false for none. Default:
   * on. Behind a proxy the app must set `trust proxy`, or all clients count as one.
   */
  readonly limits?: false | { readonly scale?: number | undefined } | undefined;
  /** Where limits are counted. Default: the `storage` of the facilitator, or this process's memory. */
  readonly counters?: Counters | undefined;
  /**
   * Figures for `GET /metrics`, if more than these routes shall be counted; false for none, where they are shown elsewhere. Default: some of
   * the router's own.
   */
  readonly metrics?: Metrics | false | undefined;
}

const NO_LIMITS = { requests: [], signIns: [], credentials: [], challenges: [] };

/** Beyond a limit nothing is written down for a request that may be wrong. */
function unlessBeyondLimit(repeatable: RequestHandler): RequestHandler {
  return (req, res, next) => (beyondLimitSeconds(res) === undefined ? repeatable(req, res, next) : next());
}

/** Probes are answered whatever a proxy says. */
function onlyAtSite(baseUrl: string | undefined): RequestHandler {
  return (req, _res, next) => {
    requireSiteScheme(req, baseUrl);
    next();
  };
}

/** Names a request by the service key that it may show, and need not; its answers take the share of the key's wallet. */
function namedByKey({ keys }: Gateway) {
  const nameOf = (name: (key: ServiceKey) => string) => async (req: Request) => {
    const check = req.res && (await checkServiceKey(req, req.res, keys));
    return check?.ok ? name(check.key) : undefined;
  };
  return { scopeOf: nameOf(({ id }) => `key ${id}`), ownerOf: nameOf(({ owner }) => walletOwner(owner)) };
}

/**
 * The whole service as one router, for an app of your own: `app.use(createRouter({ facilitator }))`. Its POSTs take an
 * `Idempotency-Key`; what was answered is kept in the facilitator's `idempotency`.
 * @throws TollhouseError `bad_option` when an option is missing or wrong
 */
export function createRouter(options: RouterOptions): Router {
  const schema = hasSeveral(options) ? routerOptionsOfSeveral : routerOptions;
  const { page } = resolveOptions('createRouter', schema, options);
  const { facilitator: _one, facilitators: _several, limits, page: _given, ...others } = options;
  const networks = networksOf('createRouter', options);
  const { first } = networks;
  if (others.identity !== undefined) noteSite(others.identity, others.baseUrl);
  const { counters = first.storage?.counters ?? createMemoryCounters() } = others;
  const { metrics = createMetrics(networks.joined, others.gateway) } = others;
  const known = defined({ gateway: others.gateway, identity: others.identity });
  const { requests, signIns, credentials, challenges } =
    limits === false ? NO_LIMITS : createRateLimits({ counters, ...known, ...limits });
  const shellFor = serviceShells({ ...others, page });
  const counting = metrics === false ? [] : [metrics.count];
  const common = [requestId, ...counting, cors, ...(shellFor === undefined ? [] : [problemPages(shellFor)])];
  const store = first.idempotency;
  const forAnybody = idempotency({ store });
  const repeatable = others.gateway === undefined ? forAnybody : idempotency({ store, ...namedByKey(others.gateway) });
  const atSite = [...common, onlyAtSite(others.baseUrl)];
  const beforeCalls = [...atSite, markOwnErrors, noteStepOfCall, ...challenges];
  const limitScale = limits === false ? limits : (limits?.scale ?? 1);
  const routes = serviceRoutes({ ...others, networks, counters, limitScale, metrics, beforeCalls, shellFor, page });
  const router = Router();
  passOthers(router, [CALLS_PATH]);
  // Before the others, with whose many paths each call would be compared.
  for (const call of routes.calls) router.use(call.router);
  guardRoutes(router, routes.unlimited, common);
  guardRoutes(router, routes.open, [...atSite, noteFacilitationStep, ...requests, repeatable]);
  guardRoutes(router, routes.signIn, [...atSite, ...signIns, forAnybody]);
  guardRoutes(router, routes.credentials, [...atSite, ...credentials, unlessBeyondLimit(forAnybody)]);
  guardRoutes(router, routes.authenticated, [...atSite, ...challenges]);
  router.use(problemHandler);
  return router;
}
