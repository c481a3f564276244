import { eventSteps } from './event-statements.js';
import type { Broadcast, ClaimRequest, ClaimResult, Outcome, UnresolvedQuery } from './ledger.js';
import { LEDGER } from './ledger-statements.js';
import { createClaimNew } from './new-payments.js';
import { firstOf, lifeOf, toPayment } from './payment-rows.js';
import { type PrunableLedger, pruneLedger } from './prune-ledger.js';
import type { SqlDatabase, SqlInput, Statement, Step } from './sql-database.js';
import { sqlPaymentRequests } from './sql-payment-requests.js';

/**
 * A ledger on SQLite or Postgres. The database is not closed with it.
 * @param now - clock, milliseconds since the epoch. Instances that share a database must agree to a fraction of a lease
 */
export function createSqlLedger(database: SqlDatabase, now: () => number = Date.now): PrunableLedger {
  const claimNew = createClaimNew(database, now);

  async function claim(request: ClaimRequest): Promise<ClaimResult> {
    const { id, binding, payer, terms, blockhash, lease, leaseMs } = request;
    const fresh = await claimNew(request);
    if (fresh !== undefined) return { status: 'won', record: fresh };
    const time = now();
    const [free] = await database.query(LEDGER.takeOver, id, lease, binding, time, time + leaseMs);
    if (free !== undefined) return { status: 'won', record: { id, binding, payer, terms, blockhash, ...lifeOf(free) } };
    const [row] = await database.query(LEDGER.find, id);
    // Given back and forgotten between the statements: it is free again.
    if (row === undefined) return claim(request);
    const record = toPayment(row);
    const isOpen = row.finished_at === null && record.binding === binding;
    return { status: isOpen ? 'busy' : 'closed', record };
  }

  /** Whether a statement on a held payment found it held. */
  async function change(statement: Statement, id: string, lease: string, ...values: SqlInput[]): Promise<boolean> {
    return (await database.query(statement, id, lease, ...values)).length > 0;
  }

  async function release(id: string, lease: string): Promise<boolean> {
    const results = await database.batch([
      [LEDGER.forgetUnsent, id, lease],
      [LEDGER.release, id, lease],
    ]);
    return results.some((rows) => rows.length > 0);
  }

  return {
    claim,
    claimLanded: claimNew,
    release,
    prune: (...range) => pruneLedger(database, ...range),
    recordBroadcast: (id, lease, { signature, lastValidBlockHeight }: Broadcast) =>
      change(LEDGER.recordBroadcast, id, lease, signature ?? null, lastValidBlockHeight ?? null),
    withdrawBroadcast: (id, lease) => change(LEDGER.withdrawBroadcast, id, lease),
    recordOutcome: async (id, lease, outcome, events = []) =>
      (await database.batchIf(outcomeStep(outcome, id, lease, now()), eventSteps(events))).length > 0,
    complete: (id, lease) => change(LEDGER.complete, id, lease, now()),
    extend: (id, lease, leaseMs) => change(LEDGER.extend, id, lease, now() + leaseMs),
    async takeUnresolved({ network, restMs, limit }: UnresolvedQuery) {
      const time = now();
      return (await database.query(LEDGER.takeUnresolved, network, time, time + restMs, limit)).map(toPayment);
    },
    find: async (id) => firstOf(await database.query(LEDGER.find, id), toPayment),
    ...sqlPaymentRequests(database, now),
    close: async () => {},
  };
}

function outcomeStep(outcome: Outcome, id: string, lease: string, time: number): Step {
  return outcome.state === 'confirmed'
    ? [LEDGER.recordConfirmed, id, lease, outcome.slot, outcome.signature]
    : [LEDGER.recordLost, id, lease, outcome.state, outcome.reason, time];
}

/**
 * The step that uses a payment up, for a transaction that writes more than that. It finds nothing when the lease was lost.
 * @param time - milliseconds since the epoch
 */
export function completionStep(id: string, lease: string, time: number): Step {
  return [LEDGER.complete, id, lease, time];
}
