import { eventSteps } from './event-statements.js';
import type { Ledger } from './ledger.js';
import { LEDGER } from './ledger-statements.js';
import { MAX_REFERENCES } from './payment-request.js';
import { firstOf, paymentRequestToSql, toPaymentRequest } from './payment-rows.js';
import type { SqlDatabase } from './sql-database.js';

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
    findPaymentRequestByReference: async (accounts) => {
      const references = Array.from({ length: MAX_REFERENCES }, (_, at) => accounts[at] ?? null);
      return firstOf(await database.query(LEDGER.findRequestByReference, ...references), toPaymentRequest);
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
