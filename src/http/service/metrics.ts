import type { Request } from 'express';
import type { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { membersOf } from '../../facilitator/networks/joined-facilitator.js';
import { pruningLag } from '../../facilitator/recovery/pruning.js';
import type { Facilitator } from '../../facilitator/types.js';
import { loadIfInstalled } from '../../lib/optional-packages.js';
import { asMiddleware, type Middleware } from '../../middleware/gate/gate.js';
import { oncePerRequest } from '../../middleware/gate/once-per-request.js';
import { addLoad } from './load-metrics.js';

/** Figures for Prometheus. */
export interface Metrics {
  /** Express middleware that counts requests, each once however often it passes. */
  readonly count: Middleware;
  /** The figures as text, and its content type; undefined where `prom-client` is not installed. */
  expose(): Promise<{ readonly text: string; readonly contentType: string } | undefined>;
}

interface Instruments {
  readonly registry: Registry;
  readonly requests: Counter<'method' | 'route' | 'status'>;
  readonly payments: Counter<'outcome' | 'network'>;
  readonly settlement: Histogram<'network'>;
  readonly feePayer: Gauge<'wallet' | 'network'>;
  readonly rpcUp: Gauge<'network'>;
  readonly storeUp: Gauge;
  readonly pruningLag: Gauge<'what'>;
}

/** From a sandbox's 50 ms to the longest wait for a settlement. */
const SETTLEMENT_BUCKETS = [0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 30, 60];
const OUTCOMES = ['created', 'settled', 'failed', 'expired', 'pending'] as const;
const MILLISECONDS = 1_000;

/** Counts what goes on at a facilitator, by network, and at the routes that `count` stands in front of, from now on. */
export function createMetrics(facilitator: Facilitator): Metrics {
  const loading = loadInstruments(facilitator);
  // Whoever asks for the figures is told why there are none.
  loading.catch(() => {});
  const note = (write: (instruments: Instruments) => void) =>
    void loading.then(
      (instruments) => instruments !== undefined && write(instruments),
      () => {},
    );

  for (const member of membersOf(facilitator)) {
    const { network } = member;
    for (const outcome of OUTCOMES) {
      member.on(`payment.${outcome}`, () => note(({ payments }) => payments.inc({ outcome, network })));
    }
    member.on('payment.settled', ({ durationMs }) => {
      if (durationMs !== undefined)
        note(({ settlement }) => settlement.observe({ network }, durationMs / MILLISECONDS));
    });
  }

  return {
    count: asMiddleware(
      oncePerRequest((req, res, next) => {
        res.once('close', () => {
          const status = res.writableFinished ? String(res.statusCode) : 'aborted';
          note(({ requests }) => requests.inc({ method: req.method, route: routeOf(req), status }));
        });
        next();
      }),
    ),
    async expose() {
      const instruments = await loading;
      return instruments === undefined ? undefined : expose(instruments, facilitator);
    },
  };
}

async function loadInstruments(facilitator: Facilitator): Promise<Instruments | undefined> {
  const client = await loadIfInstalled('prom-client', () => import('prom-client'));
  if (client === undefined) return undefined;
  const registry = new client.Registry();
  const shared = { registers: [registry] };
  addLoad(client, registry, facilitator);
  const gauge = (name: string, help: string) => new client.Gauge({ name, help, ...shared });
  return {
    registry,
    requests: new client.Counter({
      name: 'tollhouse_http_requests_total',
      help: 'Requests by route and status of the answer',
      labelNames: ['method', 'route', 'status'],
      ...shared,
    }),
    payments: new client.Counter({
      name: 'tollhouse_payments_total',
      help: 'Payments by what became of them',
      labelNames: ['outcome', 'network'],
      ...shared,
    }),
    settlement: new client.Histogram({
      name: 'tollhouse_settlement_seconds',
      help: 'Time from sending a transaction until it landed',
      buckets: SETTLEMENT_BUCKETS,
      labelNames: ['network'],
      ...shared,
    }),
    feePayer: new client.Gauge({
      name: 'tollhouse_fee_payer_lamports',
      help: 'What the fee payer holds; missing while the chain cannot be asked',
      labelNames: ['wallet', 'network'],
      ...shared,
    }),
    rpcUp: new client.Gauge({
      name: 'tollhouse_rpc_up',
      help: 'Whether the Solana RPC answers',
      labelNames: ['network'],
      ...shared,
    }),
    storeUp: gauge('tollhouse_store_up', 'Whether the store of payments answers'),
    pruningLag: new client.Gauge({
      name: 'tollhouse_prune_lag_seconds',
      help: 'How long the oldest of what can be forgotten could have been; missing while the store cannot be asked',
      labelNames: ['what'],
      ...shared,
    }),
  };
}

async function expose(instruments: Instruments, facilitator: Facilitator) {
  const { registry, feePayer, rpcUp, storeUp } = instruments;
  feePayer.reset();
  let isStoreUp = true;
  for (const { network, health } of membersOf(facilitator)) {
    const { wallet, lamports, faults } = await health();
    if (lamports !== undefined) feePayer.set({ wallet, network }, Number(lamports));
    rpcUp.set({ network }, faults.includes('rpc_unreachable') ? 0 : 1);
    isStoreUp &&= !faults.includes('store_unreachable');
  }
  storeUp.set(isStoreUp ? 1 : 0);
  await showPruningLag(instruments, facilitator);
  return { text: await registry.metrics(), contentType: registry.contentType };
}

async function showPruningLag({ pruningLag: gauge }: Instruments, { storage }: Facilitator): Promise<void> {
  gauge.reset();
  const lags = storage && (await pruningLag(storage, Date.now()).catch(() => undefined));
  for (const [what, lagMs] of Object.entries(lags ?? {})) gauge.set({ what }, lagMs / MILLISECONDS);
}

/** The route's pattern, never the path: a figure for each path that anybody asks for would fill the memory. */
function routeOf(req: Request): string {
  const path: unknown = Reflect.get(Object(req.route), 'path');
  return typeof path === 'string' ? path : 'none';
}
