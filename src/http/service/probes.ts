import type { Response } from 'express';
import type { KnownSetup } from '../../facilitator/setup/setup-watch.js';
import { defined } from '../../lib/defined.js';
import { sendProblem } from '../../middleware/gate/respond.js';
import { defineOperation } from '../framework/operation.js';
import { type ReadinessSources, readinessOf, type TimedPart } from './readiness.js';
import { aliveResponse, readyResponse } from './schemas.js';

const TAG = 'Service';
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

const getLive = { ...getAlive, path: '/livez', id: 'getLive' };

const getReady = defineOperation({
  method: 'get',
  path: '/readyz',
  id: 'getReady',
  tag: TAG,
  summary: 'Whether payments can be taken',
  noStore: true,
  responses: { 200: { description: 'They can.', schema: readyResponse } },
  errors: ['not_ready'],
  handler: ({ res }, parts: ReadinessSources) => readiness(parts, res),
});

/**
 * `GET /healthz`: the process is there. `GET /readyz`: it can take payments, on one network at least; 503, saying why, when
 * the chain or a store is gone, the store takes no writes or the fee payer is empty. While limits cannot be counted, or no more network
 * fees are paid in this hour, it is ready, and says so. Neither is limited, neither waits longer than two seconds, and what `/readyz`
 * asks of others it asks once in five, however often it is asked itself.
 */
export const PROBE_OPERATIONS = [getAlive, getReady];

/** The same under the names that Kubernetes has for them as well, for a port that is the operator's alone. */
export const OPERATOR_PROBE_OPERATIONS = [getAlive, getLive, getReady];

async function readiness(sources: ReadinessSources, res: Response) {
  const { ready, parts, checks, networks } = await readinessOf(sources).look();
  const more = { checks, networks, parts: parts.map(partView), ...setupView(sources.networks.joined.setup.known()) };
  if (ready) return { status: 'ready' as const, ...more };
  const reasons = parts.flatMap(({ state, reason }) => (state === 'failed' && reason ? [reason] : []));
  const detail = `Payments cannot be taken: ${[...new Set(reasons)].join('; ')}.`;
  sendProblem(res, 'not_ready', detail, { retryAfterSeconds: RETRY_SECONDS, more });
  return undefined;
}

function partView({ part, network, state, reason, since }: TimedPart) {
  return { part, state, ...defined({ network, reason }), since: new Date(since).toISOString() };
}

/** What was found of the set-up. Anybody may read this: the particulars are for the operator, who was warned of them. */
function setupView(known: KnownSetup | undefined) {
  if (known === undefined) return {};
  const findings = known.findings.map(({ code, severity }) => ({ code, severity }));
  return { setup: { checked_at: new Date(known.checkedAt).toISOString(), findings } };
}
