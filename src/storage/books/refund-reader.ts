import type { NetworkId } from '../../protocol/types.js';
import type { PaymentState } from '../ledger/ledger.js';
import { amountOf } from '../ledger/payment-rows.js';
import type { PassKind } from '../passes/pass-store.js';
import { toRefund } from '../payouts/refund-rows.js';
import { REFUND_COLUMNS } from '../payouts/refund-statements.js';
import type { RefundRecord } from '../payouts/refund-store.js';
import type { Row, SqlDatabase, Statement } from '../sql/sql-database.js';

/** A refund as it stands in the books, beside what it is of. */
export interface BookedRefund extends RefundRecord {
  /** What it pays back of; missing where that is forgotten. */
  readonly payment?: {
    /** Base58. */
    readonly payer: string;
    /** Mint, base58. */
    readonly asset: string;
    readonly amount: bigint;
    readonly state: PaymentState;
  };
  /** Kind of the pass that it takes out of use; missing where that is forgotten. */
  readonly passKind?: PassKind;
  /** What it has taken of that pass, in its unit; missing where nothing is noted, or not any more. */
  readonly debited?: bigint;
}

/** Reads refunds, for those who look after the books: each page is of one moment. */
export interface RefundReader {
  /**
   * Refunds of a network, the oldest first, in pages.
   * @param from - milliseconds since the epoch: those that were begun since then
   */
  refunds(network: NetworkId, from: number): AsyncIterable<readonly BookedRefund[]>;
  /** A refund by its id. */
  find(id: string): Promise<RefundRecord | undefined>;
  /** Wallets that refunds were paid from, each with a token (mint) that it paid, base58. */
  wallets(network: NetworkId): Promise<readonly { readonly wallet: string; readonly mint: string }[]>;
}

/** As many signatures go into one question to the chain. */
const PAGE = 256;
const REFUND = REFUND_COLUMNS.map((it) => `r.${it}`).join(', ');

const NEXT: Statement = {
  name: 'tollhouse_page_refunds',
  text: `select ${REFUND}, p.payer as paid_by, p.asset as paid_in, p.amount as paid, p.state as paid_state, s.kind as pass_kind,
      d.amount as debited
    from tollhouse_refund r left join tollhouse_payment p on p.id = r.payment_id
    left join tollhouse_pass s on s.id = r.pass_id
    left join tollhouse_pass_debit d on d.pass_id = r.pass_id and d.request = r.id
    where r.network = $1 and (r.created_at, r.id) > ($2, $3) order by r.created_at, r.id limit ${PAGE}`,
};
const FIND: Statement = {
  name: 'tollhouse_find_booked_refund',
  text: `select ${REFUND} from tollhouse_refund r where r.id = $1`,
};
const WALLETS: Statement = {
  name: 'tollhouse_refund_wallets',
  text: 'select wallet, mint from tollhouse_refund where network = $1 group by wallet, mint order by wallet, mint',
};

/** Makes a reader of the refunds in a database. */
export function createRefundReader(database: SqlDatabase): RefundReader {
  return {
    async *refunds(network, from) {
      let after = { createdAt: from, id: '' };
      for (;;) {
        const page = (await database.query(NEXT, network, after.createdAt, after.id)).map(toBooked);
        const last = page.at(-1);
        if (last === undefined) return;
        yield page;
        if (page.length < PAGE) return;
        after = last;
      }
    },
    async find(id) {
      const [row] = await database.query(FIND, id);
      return row === undefined ? undefined : toRefund(row);
    },
    async wallets(network) {
      const rows = await database.query(WALLETS, network);
      return rows.map(({ wallet, mint }) => ({ wallet: String(wallet), mint: String(mint) }));
    },
  };
}

function toBooked(row: Row): BookedRefund {
  const { paid_by, paid_in, paid, paid_state, pass_kind, debited } = row;
  const payment = { payer: String(paid_by), asset: String(paid_in), state: paid_state as PaymentState };
  return {
    ...toRefund(row),
    ...(paid_by === null ? {} : { payment: { ...payment, amount: amountOf(paid) } }),
    ...(pass_kind === null ? {} : { passKind: pass_kind as PassKind }),
    ...(debited === null ? {} : { debited: BigInt(String(debited)) }),
  };
}
