import type { Response } from 'express';
import type { Networks } from '../../facilitator/networks/networks.js';
import { type FacilitatorHealth, type HealthFault, servesNobody } from '../../facilitator/setup/health.js';
import type { KnownSetup } from '../../facilitator/setup/setup-watch.js';
import { withTimeout } from '../../lib/with-timeout.js';
import { sendProblem } from '../../middleware/gate/respond.js';
import type { Counters } from '../../storage/counters/counters.js';
import { defineOperation } from '../framework/operation.js';
import { aliveResponse, readyResponse } from './schemas.js';

/** What {@link PROBE_OPERATIONS} work with: what readiness depends on. */
export interface ProbeParts {
  readonly networks: Networks;
  /** Where nonces are kept and limits are counted: in one store, or in two. */
  readonly counters: Pick<Counters, 'get' | 'increment'>;
}

interface Check {
  /** As it goes over the wire: what is looked at, and how it is. */
  readonly name: 'rpc' | 'fee_payer' | 'store' | 'counters' | 'limits' | 'facilitator' | 'recipients';
  readonly state: 'unreachable' | 'wrong_network' | 'empty' | 'low' | 'limit_reached' | 'unpayable';
  /** What is said about it; undefined for what does not stop the service. */
  readonly sentence?: string;
}

const TAG = 'Service';
const COUNTERS_UNREACHABLE: Check = {
  name: 'counters',
  state: 'unreachable',
  sentence: 'the store of counters does not answer',
};
/** Without limits everything passes; the service goes on. */
const LIMITS_UNREACHABLE: Check = { name: 'limits', state: 'unreachable' };
const CHECKS: Readonly<Record<HealthFault, Check>> = {
  rpc_unreachable: { name: 'rpc', state: 'unreachable', sentence: 'the Solana RPC does not answer' },
  wrong_network: { name: 'rpc', state: 'wrong_network', sentence: 'the Solana RPC belongs to another network' },
  fee_payer_empty: { name: 'fee_payer', state: 'empty', sentence: 'the fee payer is empty and needs SOL' },
  fee_payer_low: { name: 'fee_payer', state: 'low' },
  fee_limit_reached: {
    name: 'fee_payer',
    state: 'limit_reached',
    sentence: 'as much was paid for network fees as may be in an hour',
  },
  store_unreachable: { name: 'store', state: 'unreachable', sentence: 'the store of payments does not answer' },
  facilitator_unreachable: { name: 'facilitator', state: 'unreachable', sentence: 'the facilitator does not answer' },
  recipient_unpayable: { name: 'recipients', state: 'unpayable' },
};
const ALL_WELL = { rpc: 'ok', fee_payer: 'ok', store: 'ok', counters: 'ok', limits: 'ok' } as const;
const COUNTERS_PATIENCE_MS = 2_000;
const PROBE = 'health:probe';
const PROBE_WINDOW_MS = 60_000;
/** The health of the facilitator is that old at most. */
const RETRY_SECONDS = 5;

const getAlive = defineOperation({
  method: 'get',
  path: '/healthz',
  id: 'getAlive',
  tag: TAG,
  summary: 'Whether the process answers',
  noStore: true,
  responses: { 200: { description: 'It does.', schema: aliveResponse } },
  handler: async () => ({ status: 'ok' as const }),
});

const getReady = defineOperation({
  method: 'get',
  path: '/readyz',
  id: 'getReady',
  tag: TAG,
  summary: 'Whether payments can be taken',
  noStore: true,
  responses: { 200: { description: 'They can.', schema: readyResponse } },
  errors: ['not_ready'],
  handler: ({ res }, parts: ProbeParts) => readiness(parts, res),
});

/**
 * `GET /healthz`: the process is there. `GET /readyz`: it can take payments, on one network at least; 503, saying why, when
 * the chain or a store is gone or the fee payer is empty. While limits cannot be counted, or no more network fees are paid in this hour, it is ready,
 * and says so. Neither is limited,
 * and neither waits longer than two seconds.
 */
export const PROBE_OPERATIONS = [getAlive, getReady];

async function readiness({ networks, counters }: ProbeParts, res: Response) {
  const [states, answered, counted] = await Promise.all([
    Promise.all(networks.all.map(async (it) => ({ network: it.network, health: await it.health() }))),
    withTimeout(COUNTERS_PATIENCE_MS, async () => counters.get(PROBE)),
    withTimeout(COUNTERS_PATIENCE_MS, async () => counters.increment(PROBE, PROBE_WINDOW_MS)),
  ]);
  const wrong = [
    ...states.flatMap(({ health }) => checksOf(health)).toReversed(),
    ...(answered === undefined ? [COUNTERS_UNREACHABLE] : []),
    ...(counted === undefined ? [LIMITS_UNREACHABLE] : []),
  ];
  const checks = { ...ALL_WELL, ...Object.fromEntries(wrong.map(({ name, state }) => [name, state])) };
  const reasons = [...new Set(wrong.toReversed().flatMap(({ sentence }) => sentence ?? []))];
  const each = Object.fromEntries(states.map(({ network, health }) => [network, health.status]));
  const more = { checks, networks: each, ...setupView(networks.joined.setup.known()) };
  if (states.some(({ health }) => !servesNobody(health)) && answered !== undefined)
    return { status: 'ready' as const, ...more };
  const detail = `Payments cannot be taken: ${reasons.join('; ')}.`;
  sendProblem(res, 'not_ready', detail, { retryAfterSeconds: RETRY_SECONDS, more });
  return undefined;
}

/** What was found of the set-up. Anybody may read this: the particulars are for the operator, who was warned of them. */
function setupView(known: KnownSetup | undefined) {
  if (known === undefined) return {};
  const findings = known.findings.map(({ code, severity }) => ({ code, severity }));
  return { setup: { checked_at: new Date(known.checkedAt).toISOString(), findings } };
}

function checksOf({ faults }: FacilitatorHealth): readonly Check[] {
  return faults.map((fault) => CHECKS[fault]);
}
