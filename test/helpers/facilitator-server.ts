import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import express, { type RequestHandler } from 'express';
import type { EmbeddedFacilitator } from '../../src/facilitator/create-facilitator.js';
import { createRouter } from '../../src/http/create-router.js';
import { endsOf, type ServerEnds } from './server-ends.js';

/** A facilitator's HTTP API on a port of its own. */
export interface FacilitatorServer extends ServerEnds {
  readonly url: string;
  /** Paths asked for so far, in order. */
  readonly asked: readonly string[];
  /** How often a path was asked for. */
  count(path: string): number;
  /** Whatever comes before the router from now on; default nothing. */
  before: RequestHandler;
}

/** Serves a facilitator. */
export async function serveFacilitator(facilitator: EmbeddedFacilitator): Promise<FacilitatorServer> {
  const asked: string[] = [];
  const app = express();
  app.use((req, res, next) => {
    asked.push(req.path);
    served.before(req, res, next);
  });
  app.use(createRouter({ facilitator, limits: false }));
  const server = app.listen(0, '127.0.0.1');
  server.keepAliveTimeout = 0;
  await once(server, 'listening');
  const served: FacilitatorServer = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    count: (path) => asked.filter((it) => it === path).length,
    before: (_req, _res, next) => next(),
    ...endsOf(server),
  };
  return served;
}
