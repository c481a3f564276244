import type { Broadcast, ClaimRequest, ClaimResult, Ledger, Outcome, PaymentRequestRecord } from './ledger.js';
import { LEDGER } from './ledger-statements.js';
import { paymentRequestToSql, termsToSql, toPayment, toPaymentRequest } from './payment-rows.js';
import type { SqlDatabase, SqlInput, Statement } from './sql-database.js';

/** A ledger that can forget. */
export interface PrunableLedger extends Ledger {
  /**
   * Forgets what was over before a time, the oldest first: payments that were served, expired or failed, and payment
   * requests that nothing can pay any more. A step takes as long as its `limit` makes it; call it until it answers 0.
   * A payment may be forgotten only when the chain has forgotten its blockhash and no door takes its signature any more.
   * @param before - milliseconds since the epoch
   * @param limit - how many payments, and how many requests, go at most
   * @returns how many went
   */
  prune(before: number, limit: number): Promise<number>;
}

/**
 * A ledger on SQLite or Postgres. The database is not closed with it.
 * @param now - clock, milliseconds since the epoch. Instances that share a database must agree to a fraction of a lease
 */
export function createSqlLedger(database: SqlDatabase, now: () => number = Date.now): PrunableLedger {
  async function claim(request: ClaimRequest): Promise<ClaimResult> {
    const { id, binding, payer, terms, blockhash, lease, leaseMs } = request;
    const time = now();
    const values = [id, binding, payer, ...termsToSql(terms), blockhash, time, lease, time + leaseMs];
    const [won] = await database.query(LEDGER.claim, ...values);
    if (won !== undefined) return { status: 'won', record: toPayment(won) };
    const [row] = await database.query(LEDGER.find, id);
    // Given back and forgotten between the two statements: it is free again.
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

  async function attachAttempt(requestId: string, paymentId: string): Promise<string | undefined> {
    const results = await database.batch([
      [LEDGER.lockRequest, requestId],
      [LEDGER.forgetAbandoned, requestId, paymentId, now()],
      [LEDGER.attach, requestId, paymentId],
      [LEDGER.attempt, requestId],
    ]);
    const row = results.at(-1)?.[0];
    return row === undefined ? undefined : String(row.attempt);
  }

  async function prune(before: number, limit: number): Promise<number> {
    const requests = await database.query(LEDGER.pruneRequests, before, limit);
    const payments = await database.query(LEDGER.prunePayments, before, limit);
    return requests.length + payments.length;
  }

  return {
    claim,
    release,
    attachAttempt,
    prune,
    recordBroadcast: (id, lease, { signature, lastValidBlockHeight }: Broadcast) =>
      change(LEDGER.recordBroadcast, id, lease, signature ?? null, lastValidBlockHeight ?? null),
    withdrawBroadcast: (id, lease) => change(LEDGER.withdrawBroadcast, id, lease),
    recordOutcome: (id, lease, outcome: Outcome) =>
      outcome.state === 'confirmed'
        ? change(LEDGER.recordConfirmed, id, lease, outcome.slot, outcome.signature)
        : change(LEDGER.recordLost, id, lease, outcome.state, outcome.reason, now()),
    complete: (id, lease) => change(LEDGER.complete, id, lease, now()),
    find: async (id) => first(await database.query(LEDGER.find, id), toPayment),
    savePaymentRequest: async (request: PaymentRequestRecord) =>
      void (await database.query(LEDGER.saveRequest, ...paymentRequestToSql(request))),
    findPaymentRequest: async (id) => first(await database.query(LEDGER.findRequest, id), toPaymentRequest),
    close: async () => {},
  };
}

function first<R, T>([row]: readonly R[], convert: (row: R) => T): T | undefined {
  return row === undefined ? undefined : convert(row);
}
