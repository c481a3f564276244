import type { Registry } from 'prom-client';
import type { Facilitator } from '../../facilitator/types.js';
import type { Gateway } from '../../gateway/gateway.js';
import { onceOver } from '../../lib/http/connection-events.js';
import { doWithout } from '../../lib/optional-packages.js';
import { asMiddleware, type Middleware } from '../../middleware/gate/gate.js';
import { oncePerRequest } from '../../middleware/gate/once-per-request.js';
import { addBacklog } from './figures/backlog-figures.js';
import { addHealth, addPayments } from './figures/chain-figures.js';
import { addGates } from './figures/gate-figures.js';
import { addGateway } from './figures/gateway-figures.js';
import { MILLISECONDS } from './figures/home.js';
import { addLoad } from './figures/load-figures.js';
import { addOwed } from './figures/owed-figures.js';
import { addProcess } from './figures/process-figures.js';
import { addRequests, type CountRequest } from './figures/request-figures.js';
import { addRpc } from './figures/rpc-figures.js';

/** Figures for Prometheus. */
export interface Metrics {
  /** Express middleware that counts requests, each once however often it passes. */
  readonly count: Middleware;
  /** The figures as text, and its content type; undefined where `prom-client` is not installed. */
  expose(): Promise<{ readonly text: string; readonly contentType: string } | undefined>;
}

interface Figures {
  readonly registry: Registry;
  readonly count: CountRequest;
  readonly lookAtHealth: () => Promise<void>;
}

/**
 * Counts what goes on at a facilitator, by network, at its gates, at a gateway, and at the routes that `count` stands in front of, from
 * now on. No label of a figure is anything that a stranger has written.
 */
export function createMetrics(facilitator: Facilitator, gateway?: Gateway): Metrics {
  const loading = loadFigures(facilitator, gateway);
  let figures: Figures | undefined;
  loading.then(
    (loaded) => {
      figures = loaded;
    },
    // Whoever asks for the figures is told why there are none.
    () => {},
  );
  return {
    count: asMiddleware(
      oncePerRequest((req, res, next) => {
        const begunAt = performance.now();
        onceOver(res, () => {
          const seconds = (performance.now() - begunAt) / MILLISECONDS;
          // The first requests may be over before the package is loaded.
          if (figures === undefined) loading.then((it) => it?.count(req, res, seconds)).catch(() => {});
          else figures.count(req, res, seconds);
        });
        next();
      }),
    ),
    async expose() {
      const loaded = await loading;
      if (loaded === undefined) return undefined;
      const { registry, lookAtHealth } = loaded;
      await lookAtHealth();
      return { text: await registry.metrics(), contentType: registry.contentType };
    },
  };
}

async function loadFigures(facilitator: Facilitator, gateway: Gateway | undefined): Promise<Figures | undefined> {
  const client = await loadPromClient();
  if (client === undefined) return undefined;
  const registry = new client.Registry();
  const home = { client, registry };
  addPayments(home, facilitator);
  addLoad(home, facilitator);
  addGates(home, facilitator);
  addRpc(home, facilitator);
  addBacklog(home, facilitator);
  addOwed(home, facilitator);
  if (gateway !== undefined) addGateway(home, gateway);
  addProcess(home);
  return { registry, count: addRequests(home), lookAtHealth: addHealth(home, facilitator) };
}

async function loadPromClient(): Promise<typeof import('prom-client') | undefined> {
  try {
    return await import('prom-client');
  } catch (cause) {
    return doWithout('prom-client', cause);
  }
}
