import type { PaymentRecord, PaymentState } from '../ledger/ledger.js';
import { PAYMENT } from '../ledger/ledger-statements.js';
import { toPayment } from '../ledger/payment-rows.js';
import { toPayout } from '../payouts/payout-rows.js';
import { PAYOUT } from '../payouts/payout-statements.js';
import type { PayoutRecord } from '../payouts/payout-store.js';
import type { Row, SqlDatabase, Statement } from '../sql/sql-database.js';

/** A payment as it stands in the books. */
export interface BookedPayment extends PaymentRecord {
  /** When it was over, milliseconds since the epoch; missing while it is not. */
  readonly finishedAt?: number;
}

/** How many payments are in a state, and since when the oldest of them is known, milliseconds since the epoch. */
export interface StateCount {
  readonly state: PaymentState;
  readonly count: number;
  readonly oldest: number;
}

/** Payments by the time at which they were first seen, milliseconds since the epoch. Default: all. */
export interface PaymentRange {
  readonly from?: number | undefined;
  /** Not included. */
  readonly to?: number | undefined;
}

/** Reads the books, for those who look after them; the ledger itself answers for single payments. */
export interface PaymentReader {
  /** How many there are in each state that occurs. */
  counts(): Promise<readonly StateCount[]>;
  /** All payments of a time, the oldest first, in pages: of any number of them, one page is in memory. */
  pages(range?: PaymentRange): AsyncIterable<readonly BookedPayment[]>;
  /** Payouts of splits that were planned in a time, whatever became of them, the oldest first, in pages. */
  payouts(range?: PaymentRange): AsyncIterable<readonly PayoutRecord[]>;
  /** Signatures of the payouts of splits and of refunds: what else a fee payer pays for. Base58, in pages. */
  payoutSignatures(): AsyncIterable<readonly string[]>;
}

/** Payments in one page; `getSignatureStatuses` takes as many signatures in a call. */
const PAGE = 256;

const COUNTS: Statement = {
  name: 'tollhouse_count_payments',
  text: 'select state, count(*) as count, min(claimed_at) as oldest from tollhouse_payment group by state order by state',
};
const NEXT: Statement = {
  name: 'tollhouse_page_payments',
  text: `select ${PAYMENT} from tollhouse_payment
    where (claimed_at, id) > ($1, $2) and claimed_at < $3
    order by claimed_at, id limit ${PAGE}`,
};
/** What is half planned is no payout yet, and becomes one when its shares are summed up. */
const NEXT_PAYOUTS: Statement = {
  name: 'tollhouse_page_payouts',
  text: `select ${PAYOUT} from tollhouse_payout
    where (created_at, id) > ($1, $2) and created_at < $3 and state <> 'planned'
    order by created_at, id limit ${PAGE}`,
};
const NEXT_SIGNATURES: Statement = {
  name: 'tollhouse_page_payout_signatures',
  text: `select id, signature
    from (select id, signature from tollhouse_payout union all select id, signature from tollhouse_refund) as paid_out
    where id > $1 and signature is not null order by id limit ${PAGE}`,
};

/** Makes a reader of the payments in a database. */
export function createPaymentReader(database: SqlDatabase): PaymentReader {
  return {
    async counts() {
      const rows = await database.query(COUNTS);
      return rows.map(({ state, count, oldest }) => ({
        state: state as PaymentState,
        count: Number(count),
        oldest: Number(oldest),
      }));
    },
    async *pages({ from = 0, to = Number.MAX_SAFE_INTEGER } = {}) {
      let after = { claimedAt: from, id: '' };
      for (;;) {
        const rows = await database.query(NEXT, after.claimedAt, after.id, to);
        const page = rows.map(toBooked);
        const last = page.at(-1);
        if (last === undefined) return;
        yield page;
        if (page.length < PAGE) return;
        after = last;
      }
    },
    async *payouts({ from = 0, to = Number.MAX_SAFE_INTEGER } = {}) {
      let after = { createdAt: from, id: '' };
      for (;;) {
        const page = (await database.query(NEXT_PAYOUTS, after.createdAt, after.id, to)).map(toPayout);
        const last = page.at(-1);
        if (last === undefined) return;
        yield page;
        if (page.length < PAGE) return;
        after = last;
      }
    },
    async *payoutSignatures() {
      let after = '';
      for (;;) {
        const rows = await database.query(NEXT_SIGNATURES, after);
        if (rows.length === 0) return;
        yield rows.map(({ signature }) => String(signature));
        after = String(rows.at(-1)?.id);
      }
    },
  };
}

function toBooked(row: Row): BookedPayment {
  const { finished_at } = row;
  return { ...toPayment(row), ...(finished_at === null ? {} : { finishedAt: Number(finished_at) }) };
}
