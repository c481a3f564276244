import { membersOf } from '../../../facilitator/networks/joined-facilitator.js';
import type { Facilitator } from '../../../facilitator/types.js';
import type { FiguresHome } from './home.js';

const BUCKETS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Adds calls of nodes. Their hosts are the operator's own, and the methods those that the code calls: both are bounded. */
export function addRpc({ client, registry }: FiguresHome, facilitator: Facilitator): void {
  const labelNames = ['network', 'endpoint', 'method'] as const;
  const registers = [registry];
  const calls = new client.Counter({
    name: 'tollhouse_rpc_calls_total',
    help: 'Calls of Solana RPC endpoints by outcome, every try',
    labelNames: [...labelNames, 'outcome'],
    registers,
  });
  const times = new client.Histogram({
    name: 'tollhouse_rpc_seconds',
    help: 'Time of a call, whatever its outcome',
    labelNames,
    buckets: BUCKETS,
    registers,
  });
  for (const { network, observed } of membersOf(facilitator)) {
    observed?.watch('rpc.call', ({ host: endpoint, method, outcome, seconds }) => {
      calls.inc({ network, endpoint, method, outcome });
      times.observe({ network, endpoint, method }, seconds);
    });
  }
}
