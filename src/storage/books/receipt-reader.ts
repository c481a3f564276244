import { CALL_COLUMNS, toCall } from '../calls/call-rows.js';
import type { ListedCall } from '../calls/call-store.js';
import type { PaymentRecord } from '../ledger/ledger.js';
import { toPayment } from '../ledger/payment-rows.js';
import { namesOf } from '../sql/columns.js';
import type { SqlDatabase, Statement } from '../sql/sql-database.js';

/** A payment beside what it has bought. */
export interface PaidFor {
  readonly payment: PaymentRecord;
  /** The payment request that it has paid, `pay_` and base58. */
  readonly requestId?: string;
  /** Calls that were made with it, the newest first: one, where it was not credit or a pass. At most {@link MOST_CALLS}. */
  readonly calls: readonly ListedCall[];
}

/** Finds payments for their receipts. Rejects with `store_unavailable` when the database does not answer. */
export interface ReceiptReader {
  /** @param id - of the payment, or of the payment request that it has paid */
  find(id: string): Promise<PaidFor | undefined>;
}

/** Most calls that are found of a payment. */
export const MOST_CALLS = 20;

const PAYMENT: Statement = {
  name: 'tollhouse_receipt_payment',
  text: `select p.*, r.id as request_id from tollhouse_payment p left join tollhouse_payment_request r on r.attempt = p.id
    where p.id = $1 or p.id = (select attempt from tollhouse_payment_request where id = $1) limit 1`,
};

const CALLS: Statement = {
  name: 'tollhouse_receipt_calls',
  text: `select seq, ${namesOf(CALL_COLUMNS).join(', ')} from tollhouse_call where payment_id = $1
    order by at desc, seq desc limit ${MOST_CALLS}`,
};

/** Reads receipts on SQLite or Postgres. */
export function createReceiptReader(database: SqlDatabase): ReceiptReader {
  return {
    async find(id) {
      const [row] = await database.query(PAYMENT, id);
      if (row === undefined) return undefined;
      const payment = toPayment(row);
      const calls = (await database.query(CALLS, payment.id)).map(toCall);
      const { request_id: requestId } = row;
      return { payment, calls, ...(typeof requestId === 'string' ? { requestId } : {}) };
    },
  };
}
