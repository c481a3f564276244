import express, { type Express, type RequestHandler } from 'express';
import helmet from 'helmet';
import { createHoldings } from '../access/holdings.js';
import { PUBLIC_LOOKS_PER_SECOND } from '../access/public-looks.js';
import type { EmbeddedFacilitator } from '../facilitator/create-facilitator.js';
import type { Networks } from '../facilitator/networks/networks.js';
import type { Gateway } from '../gateway/gateway.js';
import { createRouter } from '../http/create-router.js';
import { problemHandler } from '../http/framework/problem-handler.js';
import { problemPages } from '../http/framework/problem-pages.js';
import { refuseOtherMethods } from '../http/framework/routes.js';
import { SERVICE_NAME } from '../http/framework/service-info.js';
import type { Metrics } from '../http/service/metrics.js';
import { serviceShells } from '../http/service-routes.js';
import type { WalletIdentity } from '../identity/create-identity.js';
import { defined } from '../lib/defined.js';
import { cors } from '../middleware/gate/cors.js';
import { crossOrigin } from '../middleware/gate/cross-origin.js';
import { requestId } from '../middleware/gate/request-id.js';
import { paymentOf } from '../middleware/gate/request-properties.js';
import { sendProblem } from '../middleware/gate/respond.js';
import { requirePayment } from '../middleware/payment/require-payment.js';
import { createRateLimits } from '../middleware/rate-limit/rate-limit.js';
import { logRequests } from '../middleware/tracing/request-log.js';
import { pageOptions } from '../pages/layout/page-options.js';
import type { Counters } from '../storage/counters/counters.js';
import type { ServerConfiguration } from './configuration/configuration.js';
import type { ServerLogger } from './logger.js';

/** What the app is made of. */
export interface AppParts {
  readonly configuration: ServerConfiguration;
  readonly networks: Networks<EmbeddedFacilitator>;
  readonly gateway: Gateway;
  readonly identity: WalletIdentity;
  readonly counters: Counters;
  readonly logger: ServerLogger;
  /** What requests are counted in. */
  readonly metrics: Metrics;
  /** Wallet that is paid by the demo route; without it there is none. */
  readonly payTo: string | undefined;
  /** Stands in front of every route. */
  readonly refuse: RequestHandler;
}

/** An API loads and frames nothing; pages bring a policy of their own. */
const SECURITY_HEADERS = helmet({
  contentSecurityPolicy: {
    useDefaults: false,
    directives: { defaultSrc: ["'none'"], baseUri: ["'none'"], formAction: ["'none'"], frameAncestors: ["'none'"] },
  },
  crossOriginResourcePolicy: { policy: 'cross-origin' },
  // Whether other hosts of the domain speak https is not ours to say.
  strictTransportSecurity: { includeSubDomains: false },
});

const GREETING = 'Paid. This answer cost one cent.';

/** The server's Express app: the whole service, and a paid demo route where there is a wallet to be paid. */
export function createApp(parts: AppParts): Express {
  const { configuration, networks, gateway, identity, counters, logger, metrics, payTo, refuse } = parts;
  const { baseUrl, crossOrigins, trustProxy, tiers, page, rateLimitScale: scale } = configuration;
  const limits = createRateLimits({ counters, scale, gateway });
  const { first: facilitator, all: facilitators } = networks;
  const app = express();
  app.disable('x-powered-by');
  if (trustProxy !== undefined) app.set('trust proxy', trustProxy);
  app.use(requestId, logRequests(logger), metrics.count, refuse, SECURITY_HEADERS);
  if (crossOrigins !== undefined) app.use(crossOrigin({ origins: crossOrigins }));
  app.use(cors);
  if (payTo !== undefined) {
    const gate = demoGate(facilitator, payTo, { baseUrl, page });
    app.route('/demo').get(limits.challenges, gate, sendGreeting).all(refuseOtherMethods('GET', 'HEAD'));
  }
  const holdings = createHoldings({ facilitator, publicLooksPerSecond: PUBLIC_LOOKS_PER_SECOND * scale });
  const options = defined({ baseUrl, tiers, page });
  // On a port of their own nobody else reads them here.
  const shown = { metrics: configuration.metricsPort === undefined ? metrics : (false as const), limits: { scale } };
  app.use(createRouter({ facilitators, gateway, identity, counters, holdings, ...shown, ...options }));
  const shellFor = serviceShells({ gateway, identity, baseUrl, page: page && pageOptions.parse(page) });
  const pages = shellFor === undefined ? [] : [problemPages(shellFor)];
  app.use(limits.requests, ...pages, answerNotFound);
  app.use(problemHandler);
  return app;
}

/** Responds 404 where nothing is. */
export const answerNotFound: RequestHandler = (req, res) =>
  sendProblem(res, 'not_found', `There is nothing at ${req.method} ${req.path}.`);

function demoGate(
  facilitator: EmbeddedFacilitator,
  payTo: string,
  { baseUrl, page }: Pick<ServerConfiguration, 'baseUrl' | 'page'>,
): RequestHandler {
  return requirePayment({
    facilitator,
    price: '$0.01',
    payTo,
    description: 'A greeting for whoever pays one cent',
    mimeType: 'application/json',
    discovery: {
      path: '/demo',
      serviceName: SERVICE_NAME,
      tags: ['demo'],
      output: { example: { message: GREETING, payer: 'wallet that paid', at: '2026-01-02T03:04:05.678Z' } },
    },
    ...defined({ baseUrl, page }),
  });
}

const sendGreeting: RequestHandler = (req, res) => {
  res.json({
    message: GREETING,
    payer: paymentOf(req)?.payer,
    at: new Date().toISOString(),
  });
};
