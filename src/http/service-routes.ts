import type { RequestHandler } from 'express';
import { type Holdings, holdingsOf } from '../access/holdings.js';
import type { TiersOptions } from '../access/tiers.js';
import type { EmbeddedFacilitator } from '../facilitator/create-facilitator.js';
import type { Networks } from '../facilitator/networks/networks.js';
import { createFreeCalls } from '../gateway/calls/free-calls.js';
import type { Gateway } from '../gateway/gateway.js';
import { createRequestLimit, type RequestLimit } from '../gateway/owners/request-limit.js';
import type { WalletIdentity } from '../identity/create-identity.js';
import { basePathOf } from '../middleware/gate/request-url.js';
import type { ResolvedPageOptions } from '../pages/layout/page-options.js';
import type { Counters } from '../storage/counters/counters.js';
import { isRequestId } from '../storage/ledger/payment-request.js';
import { DEFAULT_QUOTAS } from '../storage/owners/quotas.js';
import { CHALLENGE_OPERATIONS, CREDENTIAL_OPERATIONS } from './auth/operations.js';
import { createCallGates, listedTerms } from './calls/call-gate.js';
import { createCallRoutes } from './calls/operations.js';
import { createPaidElsewhere } from './calls/paid-elsewhere.js';
import { createCallServer } from './calls/serve-call.js';
import { createServeFree } from './calls/serve-free.js';
import { DISCOVERY_OPERATIONS } from './discovery/operations.js';
import type { OperationDescription } from './framework/operation.js';
import { createRoutes, type Routes } from './framework/routes.js';
import { SERVICE_NAME, serviceInfo } from './framework/service-info.js';
import { createShellFor, type ShellFor } from './framework/service-pages.js';
import { type GatewayRoutes, gatewayRoutes } from './gateway-routes.js';
import { DOCS_OPERATIONS, DOCS_PATH, docsPageParts, OPENAPI_OPERATIONS, openApiParts } from './openapi/operations.js';
import { PAYMENTS_OPERATIONS } from './payments/operations.js';
import { keyPages } from './projects/key-pages.js';
import { MARKETPLACE_PATHS } from './projects/marketplace-schemas.js';
import { projectListings } from './projects/project-listings.js';
import type { Metrics } from './service/metrics.js';
import { METRICS_OPERATIONS, SERVICE_OPERATIONS } from './service/operations.js';
import { PROBE_OPERATIONS } from './service/probes.js';
import { TOKEN_GATE_OPERATIONS, tokenGateParts } from './token-gate/operations.js';

/** What {@link serviceRoutes} works with: the options of `createRouter`. */
export interface ServiceRoutesParts {
  readonly networks: Networks<EmbeddedFacilitator>;
  readonly identity?: WalletIdentity | undefined;
  readonly gateway?: Gateway | undefined;
  readonly tiers?: TiersOptions | undefined;
  readonly holdings?: Holdings | undefined;
  readonly counters: Counters;
  /** Multiplies the limit of wallets that are signed in; false for none. */
  readonly limitScale: number | false;
  /** False for none. */
  readonly metrics: Metrics | false;
  readonly baseUrl?: string | undefined;
  readonly label?: string | undefined;
  /** How pages for people look; false for none. */
  readonly page?: ResolvedPageOptions | false | undefined;
  /** Of {@link serviceShells}. */
  readonly shellFor: ShellFor | undefined;
  readonly explorerUrl?: string | undefined;
  /** What each call of a project meets first. */
  readonly beforeCalls: readonly RequestHandler[];
}

/** The routes of the service, by what is to stand before them. */
export interface ServiceRoutes extends GatewayRoutes {
  /** Probes and figures. */
  readonly unlimited: readonly Routes[];
  readonly signIn: readonly Routes[];
  /** Where a signed message or a refresh token is handed in. */
  readonly credentials: readonly Routes[];
  /** The calls of projects, with what stands before them. */
  readonly calls: readonly Routes[];
}

const PLACES = { home: '/', docs: DOCS_PATH };
const NO_API: GatewayRoutes = { authenticated: [], open: [] };

/** What stands around the service's pages; undefined where it has none. */
export function serviceShells({
  gateway,
  identity,
  baseUrl,
  page = {},
}: Pick<ServiceRoutesParts, 'gateway' | 'identity' | 'baseUrl' | 'page'>): ShellFor | undefined {
  const places = gateway && identity ? { ...PLACES, marketplace: MARKETPLACE_PATHS.all } : PLACES;
  return page === false ? undefined : createShellFor({ page, serviceName: SERVICE_NAME, baseUrl, places });
}

/** Everything that the service does, of the parts that are there. */
export function serviceRoutes(parts: ServiceRoutesParts): ServiceRoutes {
  const {
    networks,
    identity,
    gateway,
    tiers,
    holdings,
    counters,
    limitScale,
    metrics,
    beforeCalls,
    shellFor,
    page: _page,
    ...links
  } = parts;
  const { baseUrl } = links;
  const operations = (): readonly OperationDescription[] => described.flatMap((it) => it.operations);
  const service = () => serviceInfo(operations());
  const selling = gateway && sellingRoutes(gateway, parts);
  const about = { networks, holdingsOn: holdingsOf, service, baseUrl, shellFor };
  const state = createRoutes(SERVICE_OPERATIONS, about);
  const figures = metrics === false ? [] : [createRoutes(METRICS_OPERATIONS, metrics)];
  const unlimited = [createRoutes(PROBE_OPERATIONS, { networks, counters }), ...figures];
  const document = openApiParts({ networks, operations, baseUrl });
  const facilitation = [
    createRoutes(OPENAPI_OPERATIONS, document),
    ...(shellFor === undefined ? [] : [createRoutes(DOCS_OPERATIONS, { ...document, ...docsPageParts(), shellFor })]),
    createRoutes(PAYMENTS_OPERATIONS, { networks, gateway, requests: requestLimit(parts), shellFor, ...links }),
    createRoutes(TOKEN_GATE_OPERATIONS, tokenGateParts({ networks, tiers, holdings })),
    createRoutes(DISCOVERY_OPERATIONS, { networks, service, baseUrl, listed: selling?.listed }),
  ];
  const { refuseWallet } = gateway?.suspensions ?? {};
  const auth = identity && { identity, baseUrl, refuseWallet };
  const signIn = auth === undefined ? [] : [createRoutes(CHALLENGE_OPERATIONS, auth)];
  const credentials = auth === undefined ? [] : [createRoutes(CREDENTIAL_OPERATIONS, auth)];
  const guards = { counters, limitScale };
  const api =
    gateway && identity ? gatewayRoutes({ gateway, networks, identity, ...guards, shellFor, ...links }) : NO_API;
  const calls = selling === undefined ? [] : [selling.calls];
  const described = [
    state,
    ...unlimited,
    ...facilitation,
    ...signIn,
    ...credentials,
    ...api.authenticated,
    ...api.open,
    // Without the API nobody gets a key over HTTP.
    ...(api === NO_API ? [] : calls),
  ];
  const open = [state, ...facilitation, ...api.open];
  return { unlimited, open, signIn, credentials, authenticated: api.authenticated, calls };
}

/** How many payments are asked for that nobody makes; who has no gateway has the usual bounds. */
function requestLimit({ networks, gateway, counters }: ServiceRoutesParts): RequestLimit {
  const usual = DEFAULT_QUOTAS.unpaidRequests;
  const requests = gateway?.requests ?? createRequestLimit({ counters, usual, now: Date.now });
  networks.joined.on('payment.settled', ({ resource }) => {
    if (!isRequestId(resource)) return;
    const find = () => networks.find((it) => it.paymentRequest(resource, { beside: false }));
    void find().then(
      (found) => found && requests.paid(found.request),
      () => {},
    );
  });
  return requests;
}

/** The calls of a gateway's projects, and what is listed of them. */
function sellingRoutes(gateway: Gateway, parts: ServiceRoutesParts) {
  const { networks, identity, baseUrl, beforeCalls, page, shellFor } = parts;
  const { projects } = gateway;
  const gates = createCallGates({
    gateway,
    networks,
    identity,
    baseUrl,
    page: page === false ? undefined : page,
    server: createCallServer(gateway, networks.first.passes),
  });
  const serveFree = createServeFree(gateway, createFreeCalls(networks.first.passes, gateway.now));
  const showKeyPage = shellFor && keyPages({ shellFor, baseUrl });
  const proofs = { networks, paidElsewhere: createPaidElsewhere(networks.all) };
  const calling = { ...proofs, gateway, gates, serveFree, showKeyPage, basePath: basePathOf(baseUrl) };
  return {
    calls: createCallRoutes(calling, beforeCalls),
    listed: projectListings({
      projects,
      termsOf: (project, at) => (networks.on(project.price.network) ? listedTerms(gates(project, at)) : []),
    }),
  };
}
