import { amountOf } from '../ledger/payment-rows.js';
import { toPass } from '../passes/pass-rows.js';
import { PASS_COLUMNS } from '../passes/pass-statements.js';
import { MOST_PASSES, type Pass, type PassKind } from '../passes/pass-store.js';
import type { Row, SqlDatabase, Statement } from '../sql/sql-database.js';
import { exactSum, halves } from '../sql/sql-sums.js';
import { isWanted, type WantedPayments, wantedValues } from './wanted-payments.js';

/** What was paid for passes. */
interface PassPrice {
  /** Mint, base58. */
  readonly mint: string;
  /** Atomic units. */
  readonly amount: bigint;
}

/** Passes of a project that are good still, of one kind and price, of which there is as much left each. */
export interface OpenPasses {
  readonly kind: PassKind;
  readonly price: PassPrice;
  readonly count: number;
  /** How much of the kind each payment has bought: uses, atomic units of the price, or milliseconds. */
  readonly bought: bigint;
  /** How much is left of all of them together. */
  readonly left: bigint;
  /** When the first and the last of those end that do so by themselves, milliseconds since the epoch. */
  readonly ends?: { readonly first: number; readonly last: number };
}

/** A pass that a wallet has bought. */
export interface BoughtBefore {
  readonly pass: Pass;
  readonly price: PassPrice;
  /** The project whose call has bought it; missing where a gate of an app sold it. */
  readonly projectId?: string;
  /** What refunds have taken of it, in its own unit, and what they have paid back, in atomic units of the price. */
  readonly refunded: { readonly taken: bigint; readonly amount: bigint };
}

/** Passes beside what was paid for them. Rejects with `store_unavailable` when the database does not answer. */
export interface PassFigures {
  /** The passes of a project that are good still, alike ones together. */
  openAt(projectId: string): Promise<readonly OpenPasses[]>;
  /** The passes that a wallet has bought, the newest first, at most {@link MOST_PASSES}. */
  boughtBy(wallet: string, wanted?: WantedPayments): Promise<readonly BoughtBefore[]>;
}

/** What is left of one of them, as a column; of those for a time it is that. */
const left = (now: string) => `case when s.kind = 'until' then s.ends_at - cast(${now} as bigint) else s.remaining end`;
const BOUGHT = `case when s.kind = 'until' then s.ends_at - s.opened_at else s.bought end`;
/** Uses are rounded each by themselves. */
const EACH = `case when s.kind = 'uses' then s.remaining else 0 end`;

/** Passes that are good still, alike ones together, of some passes and payments. */
const open = (passes: string, payments: string, now: string) =>
  `select p.network, s.kind, p.asset, p.amount, ${BOUGHT} as bought, count(*) as passes, ${halves(left(now))},
      min(s.ends_at) as first_end, max(s.ends_at) as last_end
    from ${passes} s join tollhouse_payment p on p.id = s.payment_id
    where ${payments} and s.revoked_at is null
      and (s.ends_at is null or s.ends_at > ${now}) and (s.remaining is null or s.remaining > 0)
    group by p.network, s.kind, p.asset, p.amount, ${BOUGHT}, ${EACH}`;

const OPEN: Statement = {
  name: 'tollhouse_open_passes_of_project',
  text: open('tollhouse_pass', 'p.project_id = $1 and p.buys is not null', '$2'),
};

/** Those of all projects and gates, and the credit that requests have left which failed at gates; `$1` is the time, and only passes whose ids are above `$2` and at most `$3` are looked at. */
export const OPEN_PASSES: Statement = {
  name: 'tollhouse_open_passes',
  text: open('(select * from tollhouse_pass where id > $2 and id <= $3)', '1 = 1', '$1'),
};

/** What of the refunds of a pass counts as a column; there is one at a time, for what is left, so that the sum is bought at most. */
const refunds = (column: 'taken' | 'amount', states: string) =>
  `(select cast(coalesce(sum(${column}), 0) as bigint) from tollhouse_refund r
    where r.payment_id = p.id and r.pass_id = s.id and r.state in (${states}))`;

const BOUGHT_BY: Statement = {
  name: 'tollhouse_passes_bought_by',
  text: `select ${PASS_COLUMNS.map((it) => `s.${it}`).join(', ')}, p.asset as paid_in, p.amount as paid, p.project_id,
      ${refunds('taken', `'taken', 'broadcast', 'paid'`)} as refund_taken, ${refunds('amount', `'paid'`)} as refunded
    from tollhouse_pass s join tollhouse_payment p on p.id = s.payment_id
    where s.wallet = $1 and ${isWanted('$2', '$3', '$4', '$5')} order by s.opened_at desc, s.id limit ${MOST_PASSES}`,
};

/**
 * Reads passes of projects on SQLite or Postgres.
 * @param now - clock, milliseconds since the epoch
 */
export function createPassFigures(database: SqlDatabase, now: () => number): PassFigures {
  return {
    openAt: async (projectId) => (await database.query(OPEN, projectId, now())).map(toOpenPasses),
    async boughtBy(wallet, wanted) {
      const rows = await database.query(BOUGHT_BY, wallet, ...wantedValues(wanted));
      return rows.map((row) => ({
        pass: toPass(row, now()),
        price: { mint: String(row.paid_in), amount: amountOf(row.paid) },
        refunded: { taken: BigInt(String(row.refund_taken)), amount: BigInt(String(row.refunded)) },
        ...(row.project_id === null ? {} : { projectId: String(row.project_id) }),
      }));
    },
  };
}

/** Reads a row of {@link OPEN_PASSES}. */
export function toOpenPasses(row: Row): OpenPasses {
  const { first_end: first, last_end: last } = row;
  return {
    kind: String(row.kind) as PassKind,
    price: { mint: String(row.asset), amount: amountOf(row.amount) },
    count: Number(row.passes),
    bought: BigInt(String(row.bought)),
    left: exactSum(row),
    ...(first === null || last === null ? {} : { ends: { first: Number(first), last: Number(last) } }),
  };
}
