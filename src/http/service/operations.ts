import type { Holdings } from '../../access/holdings.js';
import { TollhouseError } from '../../errors/errors.js';
import type { Networks } from '../../facilitator/networks/networks.js';
import type { Facilitator } from '../../facilitator/types.js';
import { frontPage } from '../../pages/service/front-page.js';
import { networkQuery } from '../framework/fields.js';
import { defineOperation } from '../framework/operation.js';
import { type ServiceInfo, serviceResponse } from '../framework/service-info.js';
import type { ShellFor } from '../framework/service-pages.js';
import { frontContent } from './front-content.js';
import type { Metrics } from './metrics.js';
import { healthResponse, walletStatusResponse } from './schemas.js';
import { healthView, walletStatusView } from './views.js';

/** What {@link SERVICE_OPERATIONS} work with. */
export interface ServiceParts {
  readonly networks: Networks;
  /** What wallets hold on a network. */
  readonly holdingsOn: (facilitator: Facilitator) => Holdings;
  /** What the service says of itself. */
  readonly service: () => ServiceInfo;
  /** Address under which clients reach this server. Default: from the request. */
  readonly baseUrl?: string | undefined;
  /** For pages. Default: there are none. */
  readonly shellFor?: ShellFor | undefined;
}

const TAG = 'Service';

const getService = defineOperation({
  method: 'get',
  path: '/',
  listed: { under: 'core', place: 1 },
  id: 'getService',
  tag: TAG,
  summary: 'What this service is',
  responses: {
    200: {
      description: 'Name, version, features and paths; for browsers a page.',
      schema: serviceResponse,
      mediaType: 'text/html',
    },
  },
  handler: async (_request, { service }: ServiceParts) => service(),
  page: async ({ req }, _service, { shellFor, networks, baseUrl }) =>
    shellFor && frontPage(shellFor(req), await frontContent(networks, req, baseUrl, shellFor(req).texts.language)),
});

const getHealth = defineOperation({
  method: 'get',
  path: '/health',
  listed: { under: 'core', place: 2 },
  id: 'getHealth',
  tag: TAG,
  summary: 'How the networks and the facilitation are',
  responses: { 200: { description: 'The state, good or bad, never older than five seconds.', schema: healthResponse } },
  handler: (_request, { networks }: ServiceParts) => healthView(networks),
});

const getWalletStatus = defineOperation({
  method: 'get',
  path: '/wallet-status',
  listed: { under: 'facilitation', place: 4 },
  id: 'getWalletStatus',
  tag: TAG,
  summary: 'What the facilitation wallet holds',
  // A wallet that is named would be answered with another one.
  query: networkQuery.strict(),
  faults: { code: 'invalid_request' },
  responses: { 200: { description: 'Balances in whole tokens.', schema: walletStatusResponse } },
  errors: ['chain_unavailable'],
  async handler({ query: { network } }, { networks, holdingsOn }: ServiceParts) {
    const facilitator = networks.named(network);
    return walletStatusView(facilitator, holdingsOn(facilitator));
  },
});

const getMetrics = defineOperation({
  method: 'get',
  path: '/metrics',
  id: 'getMetrics',
  tag: TAG,
  summary: 'Figures for Prometheus',
  noStore: true,
  responses: { 200: { description: 'In the text form of Prometheus.', mediaType: 'text/plain' } },
  errors: ['not_configured'],
  async handler({ res }, metrics: Metrics) {
    const exposed = await metrics.expose();
    if (exposed === undefined) {
      const detail = 'There are no metrics here: the package "prom-client" is not installed on this server.';
      throw new TollhouseError('not_configured', detail);
    }
    res.setHeader('Content-Type', exposed.contentType);
    res.end(exposed.text);
  },
});

/** What the service says of itself, its state and its wallet. */
export const SERVICE_OPERATIONS = [getService, getHealth, getWalletStatus];

/** Figures for Prometheus; 501 where `prom-client` is not installed. */
export const METRICS_OPERATIONS = [getMetrics];
