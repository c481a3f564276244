import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import express, { type Express } from 'express';
import type { EmbeddedFacilitator } from '../facilitator/create-facilitator.js';
import { createFacilitator } from '../facilitator/create-facilitator.js';
import { requirePayment } from '../middleware/require-payment.js';
import { sendProblem } from '../middleware/respond.js';
import { createRouter } from '../routers/create-router.js';
import { type ChainParts, connectChain } from './chain-parts.js';
import type { ServerConfiguration } from './configuration.js';

/** A server that answers. */
export interface RunningServer {
  /** Where it listens. */
  readonly url: string;
  readonly facilitator: EmbeddedFacilitator;
  readonly chain: ChainParts;
  /** Whether the demo route is there. */
  readonly demo: boolean;
  /** Refuses new work, finishes what is under way (15 s at most), then lets go of everything. */
  close(): Promise<void>;
}

const DRAIN_MS = 15_000;
const HEADERS_TIMEOUT_MS = 10_000;
const REQUEST_TIMEOUT_MS = 60_000;
const KEEP_ALIVE_TIMEOUT_MS = 65_000;

/**
 * The composition root: configuration → chain, facilitator, routers → an HTTP server that listens.
 * Without a chain in the configuration it starts the sandbox and brings a paid demo route.
 */
export async function startServer(configuration: ServerConfiguration): Promise<RunningServer> {
  const chain = await connectChain(configuration);
  const facilitator = createFacilitator(chain.facilitatorOptions);
  const app = createApp(configuration, facilitator, chain.payTo);
  try {
    const server = await listen(app, configuration);
    const { address, port } = server.address() as AddressInfo;
    const host = address.includes(':') ? `[${address}]` : address;
    return {
      url: `http://${host}:${port}`,
      facilitator,
      chain,
      demo: chain.payTo !== undefined,
      async close() {
        await drain(server);
        await facilitator.close();
        await chain.close();
      },
    };
  } catch (error) {
    await facilitator.close();
    await chain.close();
    throw error;
  }
}

function createApp(
  { baseUrl, trustProxy }: ServerConfiguration,
  facilitator: EmbeddedFacilitator,
  payTo: string | undefined,
): Express {
  const app = express();
  app.disable('x-powered-by');
  if (trustProxy !== undefined) app.set('trust proxy', trustProxy);
  if (payTo !== undefined) {
    const gate = requirePayment({
      facilitator,
      price: '$0.01',
      payTo,
      description: 'A greeting for whoever pays one cent',
      mimeType: 'application/json',
      ...(baseUrl === undefined ? {} : { baseUrl }),
    });
    app.get('/demo', gate, (req, res) => {
      res.json({
        message: 'Paid. This answer cost one cent.',
        payer: req.payment?.payer,
        at: new Date().toISOString(),
      });
    });
  }
  app.use(createRouter({ facilitator }));
  app.use((req, res) => sendProblem(res, 'not_found', `There is nothing at ${req.method} ${req.path}.`));
  return app;
}

function listen(app: Express, { host, port }: ServerConfiguration): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = app.listen(port, host);
    server.once('listening', () => resolve(server));
    server.once('error', reject);
    server.headersTimeout = HEADERS_TIMEOUT_MS;
    server.requestTimeout = REQUEST_TIMEOUT_MS;
    server.keepAliveTimeout = KEEP_ALIVE_TIMEOUT_MS;
  });
}

function drain(server: Server): Promise<void> {
  return new Promise((resolve) => {
    const cut = setTimeout(() => server.closeAllConnections(), DRAIN_MS);
    server.close(() => {
      clearTimeout(cut);
      resolve();
    });
    server.closeIdleConnections();
  });
}
