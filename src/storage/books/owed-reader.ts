import type { Leg } from '../../protocol/money/split.js';
import type { NetworkId } from '../../protocol/types.js';
import type { PaymentState } from '../ledger/ledger.js';
import { amountOf, legsFromSql } from '../ledger/payment-rows.js';
import type { PayoutState } from '../payouts/payout-store.js';
import { orMissing } from '../sql/columns.js';
import type { Row, SqlDatabase, Statement } from '../sql/sql-database.js';
import { exactSum } from '../sql/sql-sums.js';

/** What one recipient is owed of a payment: a row of the book of what is owed. */
export interface OwedEntry extends Leg {
  readonly network: NetworkId;
  /** The split wallet that holds it, base58. */
  readonly wallet: string;
  /** Base58. */
  readonly mint: string;
  readonly projectId: string;
  /** Wallet of the project's owner, base58. */
  readonly owner: string;
}

/** A payment that belongs to the recipients of a split, and what is booked as owed of it. */
export interface SharedPayment {
  readonly id: string;
  readonly state: PaymentState;
  /** Whether what is owed of it is in the book. */
  readonly isAccrued: boolean;
  /** Who gets how much, as it was decided with the payment. */
  readonly legs: readonly Leg[];
  /** Atomic units. */
  readonly amount: bigint;
  readonly network: NetworkId;
  readonly payTo: string;
  /** Mint, base58. */
  readonly asset: string;
  readonly projectId: string | undefined;
  readonly owner: string | undefined;
  /** Milliseconds since the epoch. */
  readonly claimedAt: number;
  readonly entries: readonly OwedEntry[];
}

/** Something owed that no received payment with shares explains. */
export interface StrayEntry extends Leg {
  readonly paymentId: string;
  readonly mint: string;
  /** State of the payment; missing where the books have none. */
  readonly state: PaymentState | undefined;
}

/** What is owed and was taken by a payout, by recipient. */
export interface TakenByPayout {
  readonly payoutId: string;
  readonly state: PayoutState;
  /** What the payout says that it pays. */
  readonly legs: readonly Leg[];
  /** The sums of what it took; a recipient occurs once. */
  readonly taken: readonly Leg[];
  /** How many entries it took of another wallet, token or project than its own. */
  readonly foreign: number;
  /** When it last changed, milliseconds since the epoch. */
  readonly updatedAt: number;
}

/** What a split wallet must hold of a token. */
export interface SplitHolding {
  readonly wallet: string;
  readonly mint: string;
  /** Owed and in no payout that is booked as paid, atomic units. */
  readonly amount: bigint;
}

/** Reads what is owed, for those who look after the books. Each page and each response is the books of one moment. */
export interface OwedReader {
  /** Payments of a network that were first seen since a time and have shares, the oldest first, in pages. */
  shared(network: NetworkId, from: number): AsyncIterable<readonly SharedPayment[]>;
  /** What is owed since a time without a payment that has landed and has shares, in pages. */
  strays(network: NetworkId, from: number): AsyncIterable<readonly StrayEntry[]>;
  /**
   * Payments of projects that a split wallet has received since a time, and of which nothing is for anybody: at most 1,000,
   * those of projects whose owner has that wallet left out.
   */
  unshared(network: NetworkId, from: number, wallet: string): Promise<readonly string[]>;
  /** Payouts that were planned since a time, with what they took, in pages. */
  taken(network: NetworkId, from: number): AsyncIterable<readonly TakenByPayout[]>;
  /** Payouts that are named by what is owed and are not in the books: at most 1,000, each with one payment of it. */
  missingPayouts(network: NetworkId): Promise<readonly { readonly payoutId: string; readonly paymentId: string }[]>;
  /** Who is or was owed something from a split wallet, base58. */
  recipients(network: NetworkId, wallet: string): Promise<readonly string[]>;
  /** What every split wallet must hold; those that have paid out everything are among them. */
  holdings(network: NetworkId): Promise<readonly SplitHolding[]>;
}

const PAGE = 256;
const MOST = 1_000;
/** For `exactSum`: amounts are unsigned, so the upper half is taken without the sign that the database sees. */
const high = (column: string) => `((${column} >> 32) & 4294967295)`;
const low = (column: string) => `(${column} & 4294967295)`;

const SHARED: Statement = {
  name: 'tollhouse_page_shared',
  text: `select p.id, p.state, p.accrued, p.owed, p.amount as paid, p.network, p.pay_to, p.asset, p.project_id, p.owner,
      p.claimed_at, o.recipient, o.amount, o.network as owed_network, o.wallet, o.mint, o.project_id as owed_project,
      o.owner as owed_owner
    from (select * from tollhouse_payment where owed is not null and network = $1 and (claimed_at, id) > ($2, $3)
      order by claimed_at, id limit ${PAGE}) p
    left join tollhouse_owed o on o.payment_id = p.id
    order by p.claimed_at, p.id, o.recipient`,
};
const STRAYS: Statement = {
  name: 'tollhouse_page_stray_owed',
  text: `select o.payment_id, o.recipient, o.amount, o.mint, p.state
    from tollhouse_owed o left join tollhouse_payment p on p.id = o.payment_id
    where o.network = $1 and o.at >= $2 and (o.payment_id, o.recipient) > ($3, $4)
      and (p.id is null or p.owed is null or p.state not in ('confirmed', 'served'))
    order by o.payment_id, o.recipient limit ${PAGE}`,
};
const UNSHARED: Statement = {
  name: 'tollhouse_read_unshared',
  text: `select id from tollhouse_payment
    where network = $1 and claimed_at >= $2 and pay_to = $3 and owed is null and project_id is not null
      and owner is distinct from pay_to and state in ('confirmed', 'served')
    order by claimed_at, id limit ${MOST}`,
};
const TAKEN: Statement = {
  name: 'tollhouse_page_taken',
  text: `select po.id, po.state, po.legs, po.created_at, po.updated_at, o.recipient,
      sum(${high('o.amount')}) as high, sum(${low('o.amount')}) as low,
      sum(case when o.network <> po.network or o.wallet <> po.wallet or o.mint <> po.mint
        or o.project_id <> po.project_id then 1 else 0 end) as strange
    from (select * from tollhouse_payout where network = $1 and (created_at, id) > ($2, $3) and state <> 'planned'
      order by created_at, id limit ${PAGE}) po
    left join tollhouse_owed o on o.payout_id = po.id
    group by po.id, po.state, po.legs, po.created_at, po.updated_at, o.recipient
    order by po.created_at, po.id, o.recipient`,
};
const RECIPIENTS: Statement = {
  name: 'tollhouse_owed_recipients',
  text: 'select distinct recipient from tollhouse_owed where network = $1 and wallet = $2',
};
const MISSING: Statement = {
  name: 'tollhouse_owed_missing_payouts',
  text: `select o.payout_id, min(o.payment_id) as payment_id
    from tollhouse_owed o left join tollhouse_payout po on po.id = o.payout_id
    where o.network = $1 and o.payout_id is not null and po.id is null
    group by o.payout_id order by o.payout_id limit ${MOST}`,
};
/** What has landed and is not booked as owed yet counts as well: the next look of the payouts books it. */
const HOLDINGS: Statement = {
  name: 'tollhouse_split_holdings',
  text: `select wallet, mint, sum(high) as high, sum(low) as low from (
      select o.wallet, o.mint, ${high('o.amount')} as high, ${low('o.amount')} as low
        from tollhouse_owed o left join tollhouse_payout po on po.id = o.payout_id
        where o.network = $1 and (po.state is null or po.state <> 'paid')
      union all
      select pay_to, asset, ${high('amount')}, ${low('amount')} from tollhouse_payment
        where network = $1 and owed is not null and accrued = 0 and state in ('confirmed', 'served')
          and project_id is not null and owner is not null
      union all
      select distinct wallet, mint, 0, 0 from tollhouse_payout where network = $1) held
    group by wallet, mint order by wallet, mint`,
};

/** Makes a reader of what is owed in a database. */
export function createOwedReader(database: SqlDatabase): OwedReader {
  return {
    async *shared(network, from) {
      let after = { claimedAt: from, id: '' };
      for (;;) {
        const page = grouped(await database.query(SHARED, network, after.claimedAt, after.id)).map(toShared);
        const last = page.at(-1);
        if (last === undefined) return;
        yield page;
        after = last;
      }
    },
    async *strays(network, from) {
      let after = { paymentId: '', recipient: '' };
      for (;;) {
        const rows = await database.query(STRAYS, network, from, after.paymentId, after.recipient);
        const page = rows.map(toStray);
        const last = page.at(-1);
        if (last === undefined) return;
        yield page;
        after = last;
      }
    },
    unshared: async (network, from, wallet) =>
      (await database.query(UNSHARED, network, from, wallet)).map(({ id }) => String(id)),
    async *taken(network, from) {
      let after: readonly [number, string] = [from, ''];
      for (;;) {
        const rows = await database.query(TAKEN, network, ...after);
        const last = rows.at(-1);
        if (last === undefined) return;
        yield grouped(rows).map(toTaken);
        after = [Number(last.created_at), String(last.id)];
      }
    },
    missingPayouts: async (network) =>
      (await database.query(MISSING, network)).map(({ payout_id, payment_id }) => ({
        payoutId: String(payout_id),
        paymentId: String(payment_id),
      })),
    recipients: async (network, wallet) =>
      (await database.query(RECIPIENTS, network, wallet)).map((row) => String(row.recipient)),
    holdings: async (network) =>
      (await database.query(HOLDINGS, network)).map((row) => ({
        wallet: String(row.wallet),
        mint: String(row.mint),
        amount: exactSum(row),
      })),
  };
}

/** Rows that follow one another with the same id. */
function grouped(rows: readonly Row[]): readonly (readonly [Row, ...Row[]])[] {
  const groups: [Row, ...Row[]][] = [];
  for (const row of rows) {
    const last = groups.at(-1);
    if (last !== undefined && last[0].id === row.id) last.push(row);
    else groups.push([row]);
  }
  return groups;
}

function toShared(rows: readonly [Row, ...Row[]]): SharedPayment {
  const [row] = rows;
  return {
    id: String(row.id),
    state: row.state as PaymentState,
    isAccrued: Number(row.accrued) === 1,
    legs: legsFromSql(String(row.owed)),
    amount: amountOf(row.paid),
    network: row.network as NetworkId,
    payTo: String(row.pay_to),
    asset: String(row.asset),
    projectId: orMissing(row.project_id, String),
    owner: orMissing(row.owner, String),
    claimedAt: Number(row.claimed_at),
    entries: rows.filter(({ recipient }) => recipient !== null).map(toEntry),
  };
}

function toEntry(row: Row): OwedEntry {
  return {
    recipient: String(row.recipient),
    amount: amountOf(row.amount),
    network: row.owed_network as NetworkId,
    wallet: String(row.wallet),
    mint: String(row.mint),
    projectId: String(row.owed_project),
    owner: String(row.owed_owner),
  };
}

function toStray(row: Row): StrayEntry {
  return {
    paymentId: String(row.payment_id),
    recipient: String(row.recipient),
    amount: amountOf(row.amount),
    mint: String(row.mint),
    state: row.state === null ? undefined : (row.state as PaymentState),
  };
}

function toTaken(rows: readonly [Row, ...Row[]]): TakenByPayout {
  const [row] = rows;
  const took = rows.filter(({ recipient }) => recipient !== null);
  return {
    payoutId: String(row.id),
    state: row.state as PayoutState,
    legs: legsFromSql(String(row.legs)),
    taken: took.map((it) => ({ recipient: String(it.recipient), amount: exactSum(it) })),
    foreign: took.reduce((sum, it) => sum + Number(it.strange), 0),
    updatedAt: Number(row.updated_at),
  };
}
