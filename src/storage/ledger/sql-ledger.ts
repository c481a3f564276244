import { randomUUID } from 'node:crypto';
import { eventSteps } from '../events/event-statements.js';
import { valuesOf } from '../sql/columns.js';
import { holderOf, leaseOf } from '../sql/presence/presence.js';
import type { Row, SqlDatabase, SqlInput, Statement, Step } from '../sql/sql-database.js';
import { freeingGivenUp } from './given-up-payments.js';
import {
  type Broadcast,
  type ClaimRequest,
  type ClaimResult,
  type Ledger,
  MAX_RERUNS,
  type Outcome,
} from './ledger.js';
import { LEDGER, NEW_REQUEST, REFERENCES_AT_ONCE } from './ledger-statements.js';
import { createClaimNew } from './new-payments.js';
import type { PaymentRequestLedger } from './payment-request.js';
import { firstOf, lifeOf, paymentRequestToSql, toPayment, toPaymentRequest } from './payment-rows.js';
import { lostClaim } from './payment-use.js';
import { type PrunableLedger, pruneLedger } from './prune-ledger.js';
import { firstLook } from './request-looks.js';
import type { InterruptedQuery, UnresolvedQuery } from './unfinished-payments.js';

/**
 * A ledger on SQLite or Postgres. The database is not closed with it.
 * @param now - clock, milliseconds since the epoch. Instances that share a database must agree to a fraction of a lease
 */
export function createSqlLedger(database: SqlDatabase, now: () => number = Date.now): PrunableLedger {
  const claimNew = createClaimNew(database, now);
  const { presence } = database;

  async function claim(request: ClaimRequest): Promise<ClaimResult> {
    const { id, binding, payer, terms, blockhash, lease, leaseMs, fingerprint = null, retryHash = null } = request;
    const fresh = await claimNew(request);
    if (fresh !== undefined) return { status: 'won', record: fresh, isFirstUse: true };
    const time = now();
    const values = [id, lease, binding, time, time + leaseMs, fingerprint, retryHash] as const;
    const known = { id, binding, payer, terms, blockhash };
    const [again] = await database.query(LEDGER.takeOver, ...values);
    if (again !== undefined) return { status: 'won', record: { ...known, ...lifeOf(again) }, isFirstUse: false };
    const [first] = await database.query(LEDGER.bind, ...values, request.admitted ?? null);
    if (first !== undefined) return { status: 'won', record: { ...known, ...lifeOf(first) }, isFirstUse: true };
    const [row] = await database.query(LEDGER.find, id);
    // Forgotten between the statements: it is free again.
    if (row === undefined) return claim(request);
    if (await isInherited(row, request, time)) return claim(request);
    const lost = lostClaim(toPayment(row), request);
    const isAbandoned = lost.status === 'foreign' && lost.record.state === 'claimed';
    if (isAbandoned && (await database.query(LEDGER.forgetAbandonedOne, id, time)).length > 0) return claim(request);
    return lost;
  }

  /** Frees a payment whose holder is gone. */
  async function isInherited({ id, lease }: Row, { leaseMs }: ClaimRequest, time: number): Promise<boolean> {
    const holder = typeof lease === 'string' ? holderOf(lease) : undefined;
    if (holder === undefined || !(await presence.isGone(holder))) return false;
    const lastHeard = time + leaseMs - presence.silentMs;
    return (await database.query(LEDGER.inherit, String(id), lease ?? null, lastHeard)).length > 0;
  }

  /** Whether a statement on a held payment found it held. */
  async function change(statement: Statement, id: string, lease: string, ...values: SqlInput[]): Promise<boolean> {
    return (await database.query(statement, id, lease, ...values)).length > 0;
  }

  return freeingGivenUp({
    newLease: () => leaseOf(presence, randomUUID()),
    claim,
    claimLanded: claimNew,
    prune: (...range) => pruneLedger(database, ...range),
    recordBroadcast(id, lease, { signature, lastValidBlockHeight }: Broadcast, leaseMs) {
      const heldUntil = leaseMs === undefined ? 0 : now() + leaseMs;
      return change(LEDGER.recordBroadcast, id, lease, signature ?? null, lastValidBlockHeight ?? null, heldUntil);
    },
    recordOutcome: async (id, lease, outcome, events = []) =>
      (await database.batchIf(outcomeStep(outcome, id, lease, now()), eventSteps(events))).length > 0,
    forget: (id, lease) => change(LEDGER.forget, id, lease),
    keep: (id, lease) => change(LEDGER.keep, id, lease),
    served: (id, lease) => change(LEDGER.served, id, lease, now()),
    runAgain: (id, lease) => change(LEDGER.runAgain, id, lease, MAX_RERUNS),
    extend: (id, lease, leaseMs) => change(LEDGER.extend, id, lease, now() + leaseMs),
    ...leftPayments(database, now),
    find: async (id) => firstOf(await database.query(LEDGER.find, id), toPayment),
    ...sqlPaymentRequests(database, now),
    close: async () => {},
  });
}

/** What is found of payments that nobody is at work on. */
function leftPayments(
  database: SqlDatabase,
  now: () => number,
): Pick<Ledger, 'takeUnresolved' | 'interrupted' | 'openPurchases'> {
  return {
    async takeUnresolved({ network, restMs, limit }: UnresolvedQuery) {
      const time = now();
      return (await database.query(LEDGER.takeUnresolved, network, time, time + restMs, limit)).map(toPayment);
    },
    async interrupted({ network, endedWithinMs, limit }: InterruptedQuery) {
      const time = now();
      return (await database.query(LEDGER.interrupted, network, time, time - endedWithinMs, limit)).map(toPayment);
    },
    openPurchases: async (payer) => (await database.query(LEDGER.openPurchases, payer)).map(toPayment),
  };
}

function outcomeStep(outcome: Outcome, id: string, lease: string, time: number): Step {
  if (!('slot' in outcome)) return [LEDGER.recordLost, id, lease, outcome.state, outcome.reason, time];
  const { state, slot, signature } = outcome;
  if (state === 'served') return [LEDGER.recordServed, id, lease, slot, signature, time];
  return [LEDGER.recordLanded, id, lease, slot, signature];
}

/**
 * The step that uses a payment up, for a transaction that writes more than that. It finds nothing when the lease was lost.
 * @param time - milliseconds since the epoch
 */
export function servedStep(id: string, lease: string, time: number): Step {
  return [LEDGER.served, id, lease, time];
}

/** The payment requests of a ledger on SQLite or Postgres. */
function sqlPaymentRequests(database: SqlDatabase, now: () => number): PaymentRequestLedger {
  return {
    async savePaymentRequest(request, events = []) {
      const values = valuesOf(NEW_REQUEST, { ...paymentRequestToSql(request), look_at: firstLook(request) });
      await database.batchIf([LEDGER.saveRequest, ...values], eventSteps(events));
    },
    async findPaymentRequestByReference(accounts) {
      for (let start = 0; start < accounts.length; start += REFERENCES_AT_ONCE) {
        const some = Array.from({ length: REFERENCES_AT_ONCE }, (_, at) => accounts[start + at] ?? null);
        const found = firstOf(await database.query(LEDGER.findRequestByReference, ...some), toPaymentRequest);
        if (found !== undefined) return found;
      }
      return undefined;
    },
    findPaymentRequest: async (id) => firstOf(await database.query(LEDGER.findRequest, id), toPaymentRequest),
    async attachAttempt(requestId, paymentId) {
      const results = await database.batch([
        [LEDGER.lockRequest, requestId],
        [LEDGER.forgetAbandoned, requestId, paymentId, now()],
        [LEDGER.attach, requestId, paymentId],
        [LEDGER.attempt, requestId],
      ]);
      const row = results.at(-1)?.[0];
      return row === undefined ? undefined : String(row.attempt);
    },
  };
}
