import { defined } from '../../lib/defined.js';
import type { NetworkId } from '../../protocol/types.js';
import type { PaymentState } from '../ledger/ledger.js';
import { purchaseFromSql } from '../ledger/payment-rows.js';
import { toPass } from '../passes/pass-rows.js';
import { PASS_COLUMNS } from '../passes/pass-statements.js';
import { ALLOWANCE, type Pass, type PassPurchase, PRICE_OF } from '../passes/pass-store.js';
import type { Row, SqlDatabase, Statement } from '../sql/sql-database.js';
import { exactSum } from '../sql/sql-sums.js';

/** A payment that has landed and buys a pass, or whose payer was left with it as credit, and the pass that it has made or renewed. */
export interface PaidPass {
  readonly paymentId: string;
  /** Base58. */
  readonly payer: string;
  /** What it has bought; of credit for a request that has failed what that is to be. */
  readonly buys: PassPurchase;
  /** Who was paid, base58. */
  readonly payTo: string;
  /** Of its project, where it has one. */
  readonly owner?: string;
  readonly projectId?: string;
  /** Missing where there is none. */
  readonly pass?: Pass;
  /** What requests and refunds have taken from it, as far as that is remembered, in its own unit. */
  readonly taken: bigint;
  /** Of one that can be renewed: the time that the payment is counted with, and all that was paid for, in milliseconds. */
  readonly period?: { readonly lastsMs: number; readonly totalMs: number };
}

/** A pass that its wallet has without a payment. */
export type HadPass = Required<Pick<PaidPass, 'pass' | 'taken'>>;

/** A pass that no landed payment has bought, or a time of one. */
export interface StrayPass {
  readonly id: string;
  readonly paymentId: string;
  /** Of the payment; missing where that is not in the books. */
  readonly state: PaymentState | undefined;
}

/** Reads passes beside their payments, for those who look after the books: each page is of one moment. */
export interface PassReader {
  /**
   * Payments of a network that have landed and buy a pass, or are credit now, in pages.
   * @param from - milliseconds since the epoch: those that were first seen since then
   */
  paid(network: NetworkId, from: number): AsyncIterable<readonly PaidPass[]>;
  /**
   * Passes that wallets have without a payment, in pages.
   * @param from - milliseconds since the epoch: those that were opened since then
   */
  allowances(from: number): AsyncIterable<readonly HadPass[]>;
  /**
   * Passes without a payment that has bought one, the oldest first, at most 1,000.
   * @param from - milliseconds since the epoch: those that were opened since then; all payments since must be kept
   */
  strays(network: NetworkId, from: number): Promise<readonly StrayPass[]>;
}

const PAGE = 256;
const MOST = 1_000;

/**
 * SQL that sums something of what requests and refunds took from a pass; in halves, as `sum` itself overflows in SQLite. Refunds are
 * remembered longer than debits, theirs among them.
 */
const taken = (half: (amount: string) => string): string =>
  `(select coalesce(sum(${half('amount')}), 0) from tollhouse_pass_debit where pass_id = s.id)
    + (select coalesce(sum(${half('r.taken')}), 0) from tollhouse_refund r where r.payment_id = s.payment_id
        and r.state in ('taken', 'broadcast', 'paid') and not exists (
          select 1 from tollhouse_pass_debit t where t.pass_id = r.pass_id and t.request = r.id))`;
const TAKEN = `${taken((it) => `${it} >> 32`)} as high, ${taken((it) => `${it} & 4294967295`)} as low`;

const PAID: Statement = {
  name: 'tollhouse_page_paid_passes',
  text: `select p.id as paid_id, p.payer, p.buys, p.asset, p.amount, p.pay_to, p.owner as paid_owner, p.project_id as paid_project,
      ${PASS_COLUMNS.map((it) => `s.${it}`).join(', ')},
      ${TAKEN}, d.lasts_ms,
      (select cast(sum(lasts_ms) as bigint) from tollhouse_pass_period where pass_id = s.id) as total_ms
    from tollhouse_payment p left join tollhouse_pass_period d on d.payment_id = p.id
    left join tollhouse_pass s on s.id = coalesce(d.pass_id, (select id from tollhouse_pass where payment_id = p.id))
    where p.network = $1 and p.claimed_at >= $2 and p.id > $3 and (p.buys is not null or s.scope like '${PRICE_OF}%')
      and p.state in ('confirmed', 'served')
    order by p.id limit ${PAGE}`,
};

const HAD: Statement = {
  name: 'tollhouse_page_had_passes',
  text: `select ${PASS_COLUMNS.map((it) => `s.${it}`).join(', ')},
      ${TAKEN}
    from tollhouse_pass s where s.payment_id > $2 and s.payment_id like '${ALLOWANCE}%' and s.opened_at >= $1
    order by s.payment_id limit ${PAGE}`,
};

const STRAYS: Statement = {
  name: 'tollhouse_stray_passes',
  text: `select s.id, s.payment_id, p.state
    from (select id, payment_id, scope, opened_at as at from tollhouse_pass
      union select d.pass_id, d.payment_id, o.scope, d.at from tollhouse_pass_period d join tollhouse_pass o on o.id = d.pass_id
        where d.payment_id <> o.payment_id) s
    left join tollhouse_payment p on p.id = s.payment_id
    where s.at >= $2 and s.payment_id not like '${ALLOWANCE}%' and (p.id is null
      or (p.network = $1 and (p.state in ('failed', 'expired') or (p.buys is null and s.scope not like '${PRICE_OF}%'))))
    order by s.at, s.id, s.payment_id limit ${MOST}`,
};

/** Makes a reader of the passes in a database. */
export function createPassReader(database: SqlDatabase): PassReader {
  return {
    paid: (network, from) =>
      pages(async (after) => {
        const page = (await database.query(PAID, network, from, after)).map(toPaid);
        return { page, last: page.at(-1)?.paymentId };
      }),
    allowances: (from) =>
      pages(async (after) => {
        const page = (await database.query(HAD, from, after)).map(toHad);
        return { page, last: page.at(-1)?.pass.paymentId };
      }),
    strays: async (network, from) => (await database.query(STRAYS, network, from)).map(toStray),
  };
}

/** Pages until one is empty, each from behind the last of the one before. */
async function* pages<It>(
  read: (after: string) => Promise<{ readonly page: readonly It[]; readonly last: string | undefined }>,
): AsyncIterable<readonly It[]> {
  let after: string | undefined = '';
  for (;;) {
    const { page, last }: Awaited<ReturnType<typeof read>> = await read(after);
    if (last === undefined) return;
    yield page;
    after = last;
  }
}

function toHad(row: Row): HadPass {
  return { pass: toPass(row, 0), taken: exactSum(row) };
}

function toPaid(row: Row): PaidPass {
  const { lasts_ms: lastsMs = null, paid_owner: owner, paid_project: project } = row;
  const period = lastsMs === null ? undefined : { lastsMs: Number(lastsMs), totalMs: Number(row.total_ms) };
  const paid = {
    ...{ paymentId: String(row.paid_id), payer: String(row.payer), buys: purchaseOf(row), payTo: String(row.pay_to) },
    ...(owner === null ? {} : { owner: String(owner) }),
    ...(project === null ? {} : { projectId: String(project) }),
    ...defined({ period }),
  };
  const taken = exactSum(row);
  // Whether it is over is not asked here.
  return row.id === null ? { ...paid, taken } : { ...paid, taken, pass: toPass(row, 0) };
}

/** A request that has failed leaves the whole amount, wherever it was sold. */
function purchaseOf({ buys, asset, amount, site, scope }: Row): PassPurchase {
  if (buys !== null) return purchaseFromSql(String(buys));
  const whole = BigInt(String(amount));
  return { site: String(site), scope: String(scope), kind: 'credit', mint: String(asset), bought: whole, left: whole };
}

function toStray({ id, payment_id, state }: Row): StrayPass {
  return { id: String(id), paymentId: String(payment_id), state: state === null ? undefined : (state as PaymentState) };
}
