import { eventSteps } from '../events/event-statements.js';
import type { SqlDatabase } from '../sql/sql-database.js';
import type { Ledger } from './ledger.js';
import { LEDGER, REFERENCES_AT_ONCE } from './ledger-statements.js';
import { firstOf, paymentRequestToSql, toPaymentRequest } from './payment-rows.js';

/** The part of a ledger that keeps payment requests. */
export type PaymentRequestLedger = Pick<
  Ledger,
  'savePaymentRequest' | 'findPaymentRequest' | 'findPaymentRequestByReference' | 'attachAttempt'
>;

/** The payment requests of a ledger on SQLite or Postgres. */
export function sqlPaymentRequests(database: SqlDatabase, now: () => number): PaymentRequestLedger {
  return {
    savePaymentRequest: async (request, events = []) =>
      void (await database.batchIf([LEDGER.saveRequest, ...paymentRequestToSql(request)], eventSteps(events))),
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
