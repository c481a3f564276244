import express from 'express';
import { problemHandler } from '../http/framework/problem-handler.js';
import { createRoutes } from '../http/framework/routes.js';
import type { Metrics } from '../http/service/metrics.js';
import { METRICS_OPERATIONS } from '../http/service/operations.js';
import { OPERATOR_PROBE_OPERATIONS } from '../http/service/probes.js';
import type { ReadinessSources } from '../http/service/readiness.js';
import { requestId } from '../middleware/gate/request-id.js';
import type { ServerConfiguration } from './configuration/configuration.js';
import { answerNotFound } from './create-app.js';
import { createHttpServer, listen, urlOf } from './http-server.js';

/** The port that is the operator's alone. */
export interface OperatorPort {
  /** Where it listens; missing where the configuration names none. */
  readonly url?: string;
  /** Answers nobody any more, and cuts what is under way. */
  close(): Promise<void>;
}

/** A server has two ports, and is to say which of them it cannot have. */
function ofOperatorPort(error: unknown): unknown {
  if (error instanceof Error) error.message = `METRICS_PORT: ${error.message}`;
  return error;
}

/**
 * Opens the port of `METRICS_PORT`, with the figures and the probes, if there is to be one.
 * @throws Error of Node where it cannot be had; its message begins with `METRICS_PORT: `
 */
export async function openOperatorPort(
  { metricsPort, metricsHost = '127.0.0.1' }: Pick<ServerConfiguration, 'metricsPort' | 'metricsHost'>,
  { metrics, ...sources }: ReadinessSources & { readonly metrics: Metrics },
): Promise<OperatorPort> {
  if (metricsPort === undefined) return { close: async () => {} };
  const app = express();
  app.disable('x-powered-by');
  app.use(requestId);
  app.use(createRoutes(METRICS_OPERATIONS, metrics).router, createRoutes(OPERATOR_PROBE_OPERATIONS, sources).router);
  app.use(answerNotFound, problemHandler);
  const server = createHttpServer(app);
  await listen(server, metricsPort, metricsHost).catch((error: unknown) => {
    throw ofOperatorPort(error);
  });
  return {
    url: urlOf(server),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
