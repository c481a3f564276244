import type { NetworkId } from '../../protocol/types.js';
import type { PaymentRequestRecord } from '../ledger/payment-request.js';
import { toPaymentRequest } from '../ledger/payment-rows.js';
import type { SqlDatabase, Statement } from '../sql/sql-database.js';

/** Reads payment requests, for those who look after the books. */
export interface RequestReader {
  /**
   * Payment requests of a network that no payment in the books has paid, in pages.
   * @param from - milliseconds since the epoch: those that were made since then
   */
  unpaid(network: NetworkId, from: number): AsyncIterable<readonly PaymentRequestRecord[]>;
}

const PAGE = 256;

const UNPAID: Statement = {
  name: 'tollhouse_page_unpaid_requests',
  text: `select r.id, r.network, r.amount, r.pay_to, r.details, r.created_at, r.expires_at, r.attempt
    from tollhouse_payment_request r left join tollhouse_payment p on p.id = r.attempt
    where r.network = $1 and r.created_at >= $2 and r.id > $3 and (p.id is null or p.state in ('failed', 'expired'))
    order by r.id limit ${PAGE}`,
};

/** Makes a reader of the payment requests in a database. */
export function createRequestReader(database: SqlDatabase): RequestReader {
  return {
    async *unpaid(network, from) {
      let after = '';
      for (;;) {
        const page = (await database.query(UNPAID, network, from, after)).map(toPaymentRequest);
        const last = page.at(-1);
        if (last === undefined) return;
        yield page;
        after = last.id;
      }
    },
  };
}
