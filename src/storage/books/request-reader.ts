import type { NetworkId } from '../../protocol/types.js';
import type { PaymentRequestRecord } from '../ledger/payment-request.js';
import { REQUEST_COLUMNS, toPaymentRequest } from '../ledger/payment-rows.js';
import type { Row, SqlDatabase, Statement } from '../sql/sql-database.js';

/** Reads payment requests, for those who look after the books. */
export interface RequestReader {
  /**
   * Payment requests of a network that no payment in the books has paid, in pages.
   * @param from - milliseconds since the epoch: those that were made since then
   */
  unpaid(network: NetworkId, from: number): AsyncIterable<readonly PaymentRequestRecord[]>;
  /** Those that one has paid, late ones among them, in pages. */
  paid(network: NetworkId, from: number): AsyncIterable<readonly BookedRequest[]>;
}

/** A payment request that is paid in the books. */
export interface BookedRequest {
  readonly request: PaymentRequestRecord;
  /** Of the payment, base58. */
  readonly signature: string;
}

const PAGE = 256;

const REQUEST = REQUEST_COLUMNS.map((name) => `r.${name}`).join(', ');

const UNPAID: Statement = {
  name: 'tollhouse_page_unpaid_requests',
  text: `select ${REQUEST}
    from tollhouse_payment_request r left join tollhouse_payment p on p.id = r.attempt
    where r.network = $1 and r.created_at >= $2 and r.id > $3 and (p.id is null or p.state in ('failed', 'expired'))
    order by r.id limit ${PAGE}`,
};

const PAID: Statement = {
  name: 'tollhouse_page_paid_requests',
  text: `select ${REQUEST}, p.signature
    from tollhouse_payment_request r join tollhouse_payment p on p.id = r.attempt
    where r.network = $1 and r.created_at >= $2 and r.id > $3 and p.state in ('confirmed', 'served')
      and p.signature is not null
    order by r.id limit ${PAGE}`,
};

/** Makes a reader of the payment requests in a database. */
export function createRequestReader(database: SqlDatabase): RequestReader {
  async function* pages(statement: Statement, network: NetworkId, from: number): AsyncIterable<readonly Row[]> {
    for (let after = ''; ; ) {
      const page = await database.query(statement, network, from, after);
      const last = page.at(-1);
      if (last === undefined) return;
      yield page;
      after = String(last.id);
    }
  }

  return {
    async *unpaid(network, from) {
      for await (const page of pages(UNPAID, network, from)) yield page.map(toPaymentRequest);
    },
    async *paid(network, from) {
      for await (const page of pages(PAID, network, from)) {
        yield page.map((row) => ({ request: toPaymentRequest(row), signature: String(row.signature) }));
      }
    },
  };
}
