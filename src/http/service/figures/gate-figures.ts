import { membersOf } from '../../../facilitator/networks/joined-facilitator.js';
import type { Facilitator } from '../../../facilitator/types.js';
import { createLabelBound, type FiguresHome, SECONDS } from './home.js';

const MOST_ROUTES = 200;
/** Strangers make projects. Each of these has some thirty rows. */
const MOST_PROJECTS = 100;

/** Adds what becomes of requests at gates, and of the calls that gates let through to upstreams. */
export function addGates({ client, registry }: FiguresHome, facilitator: Facilitator): void {
  const registers = [registry];
  const requests = new client.Counter({
    name: 'tollhouse_gate_requests_total',
    help: 'Requests at gates by what became of them',
    labelNames: ['route', 'project', 'outcome'],
    registers,
  });
  const times = new client.Histogram({
    name: 'tollhouse_gate_seconds',
    help: 'Time from the gate to the end of the response, settlement and upstream included',
    labelNames: ['route', 'project'],
    buckets: SECONDS,
    registers,
  });
  const upstreamTimes = new client.Histogram({
    name: 'tollhouse_upstream_seconds',
    help: 'Time from asking an upstream to the head of its response',
    labelNames: ['project'],
    buckets: SECONDS,
    registers,
  });
  const upstreamErrors = new client.Counter({
    name: 'tollhouse_upstream_errors_total',
    help: 'Calls that failed at the upstream, by how',
    labelNames: ['project', 'kind'],
    registers,
  });
  const upstreamCalls = new client.Counter({
    name: 'tollhouse_upstream_calls_total',
    help: 'Calls that upstreams answered, or failed at',
    labelNames: ['project'],
    registers,
  });
  const routeLabel = createLabelBound(MOST_ROUTES);
  const projectLabel = createLabelBound(MOST_PROJECTS);
  for (const { observed } of membersOf(facilitator)) {
    observed?.watch('gate.request', (seen) => {
      const labels = { route: routeLabel(seen.route), project: projectLabel(seen.project) };
      requests.inc({ outcome: seen.outcome, ...labels });
      times.observe(labels, seen.seconds);
    });
    observed?.watch('upstream.call', ({ project, seconds, failure }) => {
      const labels = { project: projectLabel(project) };
      upstreamCalls.inc(labels);
      if (seconds !== undefined) upstreamTimes.observe(labels, seconds);
      if (failure !== undefined) upstreamErrors.inc({ ...labels, kind: failure });
    });
  }
}
