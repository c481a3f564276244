import { membersOf } from '../../../facilitator/networks/joined-facilitator.js';
import type { HealthFault } from '../../../facilitator/setup/health.js';
import type { Facilitator } from '../../../facilitator/types.js';
import { type FiguresHome, MILLISECONDS } from './home.js';

/** From a sandbox's 50 ms to the longest wait for a settlement. */
const SETTLEMENT_BUCKETS = [0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 30, 60];
/** Each is shown, whether it is there or not. */
const FAULTS = Object.keys({
  rpc_unreachable: true,
  rpc_behind: true,
  wrong_network: true,
  fee_payer_empty: true,
  fee_payer_low: true,
  fee_limit_reached: true,
  store_unreachable: true,
  store_unwritable: true,
  store_full: true,
  store_moved: true,
  disk_low: true,
  clock_off: true,
  facilitator_unreachable: true,
  recipient_unpayable: true,
} satisfies Record<HealthFault, true>) as readonly HealthFault[];
const OUTCOMES = ['created', 'settled', 'failed', 'expired', 'pending'] as const;

/** Adds payments by outcome, and how long they take to land. */
export function addPayments({ client, registry }: FiguresHome, facilitator: Facilitator): void {
  const registers = [registry];
  const payments = new client.Counter({
    name: 'tollhouse_payments_total',
    help: 'Payments by what became of them',
    labelNames: ['outcome', 'network'],
    registers,
  });
  const settlement = new client.Histogram({
    name: 'tollhouse_settlement_seconds',
    help: 'Time from sending a transaction until it landed',
    buckets: SETTLEMENT_BUCKETS,
    labelNames: ['network'],
    registers,
  });
  for (const member of membersOf(facilitator)) {
    const { network } = member;
    for (const outcome of OUTCOMES) {
      payments.inc({ outcome, network }, 0);
      member.on(`payment.${outcome}`, () => payments.inc({ outcome, network }));
    }
    member.on('payment.settled', ({ durationMs }) => {
      if (durationMs !== undefined) settlement.observe({ network }, durationMs / MILLISECONDS);
    });
  }
}

/** Adds how RPC, fee payer and store are; what answers brings that up to date. */
export function addHealth({ client, registry }: FiguresHome, facilitator: Facilitator): () => Promise<void> {
  const registers = [registry];
  const feePayer = new client.Gauge({
    name: 'tollhouse_fee_payer_lamports',
    help: 'What the fee payer holds; missing while the chain cannot be asked',
    labelNames: ['wallet', 'network'],
    registers,
  });
  const rpcUp = new client.Gauge({
    name: 'tollhouse_rpc_up',
    help: 'Whether the Solana RPC answers',
    labelNames: ['network'],
    registers,
  });
  const storeUp = new client.Gauge({
    name: 'tollhouse_store_up',
    help: 'Whether the store of payments answers',
    registers,
  });
  const healthFaults = new client.Gauge({
    name: 'tollhouse_health_fault',
    help: '1 for what is wrong, by its code',
    labelNames: ['network', 'fault'],
    registers,
  });
  const freeBytes = new client.Gauge({
    name: 'tollhouse_store_free_bytes',
    help: 'Room on the disk of the store; missing where that is not here',
    registers,
  });
  const clockAhead = new client.Gauge({
    name: 'tollhouse_clock_ahead_seconds',
    help: 'How far the clock is ahead of the chain; some seconds either way are usual',
    labelNames: ['network'],
    registers,
  });
  return async () => {
    const all = await Promise.all(
      membersOf(facilitator).map(async (it) => ({ network: it.network, ...(await it.health()) })),
    );
    feePayer.reset();
    clockAhead.reset();
    const [room] = all.flatMap(({ freeBytes: free }) => free ?? []);
    if (room === undefined) freeBytes.remove({});
    else freeBytes.set(room);
    for (const { network, wallet, lamports, clockAheadMs, faults } of all) {
      if (clockAheadMs !== undefined) clockAhead.set({ network }, clockAheadMs / MILLISECONDS);
      if (lamports !== undefined) feePayer.set({ wallet, network }, Number(lamports));
      for (const fault of FAULTS) healthFaults.set({ network, fault }, faults.includes(fault) ? 1 : 0);
      rpcUp.set({ network }, faults.includes('rpc_unreachable') ? 0 : 1);
    }
    storeUp.set(all.some(({ faults }) => faults.includes('store_unreachable')) ? 0 : 1);
  };
}
