import type { NetworkId } from '../../protocol/types.js';
import type { PaymentState } from '../ledger/ledger.js';
import { purchaseFromSql } from '../ledger/payment-rows.js';
import { toPass } from '../passes/pass-rows.js';
import { PASS_COLUMNS } from '../passes/pass-statements.js';
import type { Pass, PassPurchase } from '../passes/pass-store.js';
import type { Row, SqlDatabase, Statement } from '../sql/sql-database.js';
import { exactSum } from '../sql/sql-sums.js';

/** A payment that has landed and buys a pass, and the pass that it has made. */
export interface PaidPass {
  readonly paymentId: string;
  /** Base58. */
  readonly payer: string;
  readonly buys: PassPurchase;
  /** Who was paid, base58. */
  readonly payTo: string;
  /** Of its project, where it has one. */
  readonly owner?: string;
  readonly projectId?: string;
  /** Missing where there is none. */
  readonly pass?: Pass;
  /** What requests have taken from it, as far as that is remembered, in its own unit. */
  readonly taken: bigint;
}

/** A pass that no landed payment has bought. */
export interface StrayPass {
  readonly id: string;
  readonly paymentId: string;
  /** Of the payment; missing where that is not in the books. */
  readonly state: PaymentState | undefined;
}

/** Reads passes beside their payments, for those who look after the books: each page is of one moment. */
export interface PassReader {
  /**
   * Payments of a network that have landed and buy a pass, in pages.
   * @param from - milliseconds since the epoch: those that were first seen since then
   */
  paid(network: NetworkId, from: number): AsyncIterable<readonly PaidPass[]>;
  /**
   * Passes without a payment that has bought one, the oldest first, at most 1,000.
   * @param from - milliseconds since the epoch: those that were opened since then; all payments since must be kept
   */
  strays(network: NetworkId, from: number): Promise<readonly StrayPass[]>;
}

const PAGE = 256;
const MOST = 1_000;

/** SQL that sums something of what requests took from a pass; in halves, as `sum` itself overflows in SQLite. */
const taken = (what: string): string =>
  `(select coalesce(sum(${what}), 0) from tollhouse_pass_debit where pass_id = s.id)`;

const PAID: Statement = {
  name: 'tollhouse_page_paid_passes',
  text: `select p.id as paid_id, p.payer, p.buys, p.pay_to, p.owner as paid_owner, p.project_id as paid_project, ${PASS_COLUMNS.map((it) => `s.${it}`).join(', ')},
      ${taken('amount >> 32')} as high, ${taken('amount & 4294967295')} as low
    from tollhouse_payment p left join tollhouse_pass s on s.payment_id = p.id
    where p.network = $1 and p.claimed_at >= $2 and p.id > $3 and p.buys is not null and p.state in ('confirmed', 'served')
    order by p.id limit ${PAGE}`,
};

const STRAYS: Statement = {
  name: 'tollhouse_stray_passes',
  text: `select s.id, s.payment_id, p.state
    from tollhouse_pass s left join tollhouse_payment p on p.id = s.payment_id
    where s.opened_at >= $2 and (p.id is null
      or (p.network = $1 and (p.buys is null or p.state in ('failed', 'expired'))))
    order by s.opened_at, s.id limit ${MOST}`,
};

/** Makes a reader of the passes in a database. */
export function createPassReader(database: SqlDatabase): PassReader {
  return {
    async *paid(network, from) {
      let after = '';
      for (;;) {
        const page = (await database.query(PAID, network, from, after)).map(toPaid);
        const last = page.at(-1);
        if (last === undefined) return;
        yield page;
        after = last.paymentId;
      }
    },
    strays: async (network, from) => (await database.query(STRAYS, network, from)).map(toStray),
  };
}

function toPaid(row: Row): PaidPass {
  const { paid_owner: owner, paid_project: project } = row;
  const paid = {
    ...{ paymentId: String(row.paid_id), payer: String(row.payer), buys: purchaseFromSql(String(row.buys)) },
    ...{ payTo: String(row.pay_to), ...(owner === null ? {} : { owner: String(owner) }) },
    ...(project === null ? {} : { projectId: String(project) }),
  };
  const taken = exactSum(row);
  // Whether it is over is not asked here.
  return row.id === null ? { ...paid, taken } : { ...paid, taken, pass: toPass(row, 0) };
}

function toStray({ id, payment_id, state }: Row): StrayPass {
  return { id: String(id), paymentId: String(payment_id), state: state === null ? undefined : (state as PaymentState) };
}
