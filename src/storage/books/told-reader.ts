import type { NetworkId } from '../../protocol/types.js';
import type { PaymentState } from '../ledger/ledger.js';
import { amountOf } from '../ledger/payment-rows.js';
import type { Dialect, Row, SqlDatabase, Statement } from '../sql/sql-database.js';

/** A payment, and what the events of its kind say of it. */
export interface ToldPayment {
  readonly id: string;
  readonly state: PaymentState;
  /** What is told of it: that it was settled, or that it came too late for its request. */
  readonly type: 'payment.settled' | 'payment.expired';
  /** How many events tell that. */
  readonly times: number;
  /** What the books and the events say of the same thing, where that differs; amounts in atomic units. */
  readonly differs: readonly { readonly what: string; readonly booked: string; readonly told: string }[];
}

/** An event that tells of something that the books do not have, or have otherwise. */
export interface StrayEvent {
  readonly eventId: string;
  readonly type: string;
  /** Id of the payment, payout, refund or call that it tells of. */
  readonly subject: string;
  /** State in the books; missing where they do not know it. */
  readonly state: string | undefined;
}

/** Something of which the events do not tell exactly once. */
export interface Untold {
  readonly id: string;
  readonly times: number;
}

/**
 * Compares events with what they tell of, each response in one statement: the books of one moment. At most 1,000 of each
 * kind are answered.
 */
export interface ToldReader {
  /**
   * Payments that the events tell otherwise than the books.
   * @param from - milliseconds since the epoch: of payments that were first seen since then; all their events must be kept
   */
  payments(network: NetworkId, from: number): Promise<readonly ToldPayment[]>;
  /** Events of how payments ended, which are not in the books, or ended in another way. */
  strayPayments(network: NetworkId, from: number): Promise<readonly StrayEvent[]>;
  /** Payouts that were paid since a time, with how often that is told: not once. */
  payouts(network: NetworkId, from: number): Promise<readonly Untold[]>;
  /** Events `payout.paid` of payouts that are not paid. */
  strayPayouts(network: NetworkId, from: number): Promise<readonly StrayEvent[]>;
  /** Refunds that were paid since a time, with how often that is told: not once. */
  refunds(network: NetworkId, from: number): Promise<readonly Untold[]>;
  /** Events `payment.refunded` of refunds that are not paid. */
  strayRefunds(network: NetworkId, from: number): Promise<readonly StrayEvent[]>;
  /** Calls that were charged, failed ones among them, with how often the event of their outcome tells that: not once. */
  calls(from: number): Promise<readonly Untold[]>;
  /** Events of calls with a price, of those that are not in the books with it. */
  strayCalls(from: number): Promise<readonly StrayEvent[]>;
}

const MOST = 1_000;
/** Clocks of instances differ, and an event is written after what it tells of has begun. */
const CLOCK_MS = 600_000;

/** Makes a reader of what events tell. */
export function createToldReader(database: SqlDatabase): ToldReader {
  const all = statementsOf(database.dialect);
  return {
    async payments(network, from) {
      const rows = await database.query(all.payments, network, from, from - CLOCK_MS);
      return rows.map(toTold).filter(isMistold);
    },
    strayPayments: async (network, from) => (await database.query(all.strayPayments, network, from)).map(toStray),
    payouts: async (network, from) => (await database.query(all.payouts, network, from, from - CLOCK_MS)).map(toUntold),
    strayPayouts: async (network, from) => (await database.query(all.strayPayouts, network, from)).map(toStray),
    refunds: async (network, from) => (await database.query(all.refunds, network, from, from - CLOCK_MS)).map(toUntold),
    strayRefunds: async (network, from) => (await database.query(all.strayRefunds, network, from)).map(toStray),
    calls: async (from) => (await database.query(all.calls, from, from - CLOCK_MS)).map(toUntold),
    strayCalls: async (from) => (await database.query(all.strayCalls, from)).map(toStray),
  };
}

/** Money that came too late for its request is booked under this, and told as `payment.expired`. */
const IS_LATE = `substr(p.binding, 1, 5) = 'late '`;
const TOLD_TYPE = `case when ${IS_LATE} then 'payment.expired' else 'payment.settled' end`;

/** A failed call is charged where it has bought a pass, or where its project charges for what it has answered. */
const IS_OF_CALL = `e.type in ('call.succeeded', 'call.failed')`;

/** What is compared: a name, the expression of the books, the key in the event. */
const COMPARED = [
  ['amount', 'cast(p.amount as text)', 'amount_atomic'],
  ['asset', 'p.asset', 'asset'],
  ['recipient', 'p.pay_to', 'pay_to'],
  ['payer', 'p.payer', 'payer'],
  ['signature', 'p.signature', 'tx_signature'],
] as const;

function statementsOf(dialect: Dialect) {
  const data = (key: string, table = 'e') =>
    dialect === 'postgres' ? `(${table}.data::json ->> '${key}')` : `json_extract(${table}.data, '$.${key}')`;
  return {
    payments: paymentsStatement(data),
    strayPayments: {
      name: 'tollhouse_told_stray_payments',
      text: `select e.id, e.type, ${data('payment_id')} as subject, p.state
        from tollhouse_event e left join tollhouse_payment p on p.id = ${data('payment_id')}
        where e.type in ('payment.settled', 'payment.failed', 'payment.expired') and e.at >= $2
          and ${data('network')} = $1
          and ((e.type = 'payment.settled' and (p.id is null or ${IS_LATE}))
            or (e.type <> 'payment.settled' and p.state <> substr(e.type, 9)
              and not (${IS_LATE} and e.type = 'payment.expired' and p.state = 'served')))
        order by e.seq limit ${MOST}`,
    },
    payouts: {
      name: 'tollhouse_told_payouts',
      text: `select po.id, coalesce(told.times, 0) as times from tollhouse_payout po left join (
          select ${data('payout_id')} as subject, ${data('amount_atomic')} as amount, count(*) as times
          from tollhouse_event e where e.type = 'payout.paid' and e.at >= $3
          group by ${data('payout_id')}, ${data('amount_atomic')}) told
          on told.subject = po.id and told.amount = po.total
        where po.network = $1 and po.state = 'paid' and po.created_at >= $2 and coalesce(told.times, 0) <> 1
        order by po.id limit ${MOST}`,
    },
    strayPayouts: {
      name: 'tollhouse_told_stray_payouts',
      text: `select e.id, e.type, ${data('payout_id')} as subject, po.state
        from tollhouse_event e left join tollhouse_payout po on po.id = ${data('payout_id')}
        where e.type = 'payout.paid' and e.at >= $2 and ${data('network')} = $1
          and (po.id is null or po.state <> 'paid')
        order by e.seq limit ${MOST}`,
    },
    refunds: {
      name: 'tollhouse_told_refunds',
      text: `select r.id, coalesce(told.times, 0) as times from tollhouse_refund r left join (
          select ${data('refund_id')} as subject, ${data('amount_atomic')} as amount, count(*) as times
          from tollhouse_event e where e.type = 'payment.refunded' and e.at >= $3
          group by ${data('refund_id')}, ${data('amount_atomic')}) told
          on told.subject = r.id and told.amount = cast(r.amount as text)
        where r.network = $1 and r.state = 'paid' and r.created_at >= $2 and coalesce(told.times, 0) <> 1
        order by r.id limit ${MOST}`,
    },
    strayRefunds: {
      name: 'tollhouse_told_stray_refunds',
      text: `select e.id, e.type, ${data('refund_id')} as subject, r.state
        from tollhouse_event e left join tollhouse_refund r on r.id = ${data('refund_id')}
        where e.type = 'payment.refunded' and e.at >= $2 and ${data('network')} = $1
          and (r.id is null or r.state <> 'paid')
        order by e.seq limit ${MOST}`,
    },
    calls: {
      name: 'tollhouse_told_calls',
      text: `select c.id, coalesce(told.times, 0) as times from tollhouse_call c left join (
          select ${data('call_id')} as subject, e.type, ${data('amount_atomic')} as amount, count(*) as times
          from tollhouse_event e where ${IS_OF_CALL} and e.at >= $2 and ${data('told_to')} is null
          group by ${data('call_id')}, e.type, ${data('amount_atomic')}) told
          on told.subject = c.id and told.type = 'call.' || c.outcome and (told.amount = cast(c.amount as text) or c.amount < 0)
        where c.mint is not null and c.at >= $1 and coalesce(told.times, 0) <> 1
        order by c.seq limit ${MOST}`,
    },
    strayCalls: {
      name: 'tollhouse_told_stray_calls',
      text: `select e.id, e.type, ${data('call_id')} as subject, c.outcome as state
        from tollhouse_event e left join tollhouse_call c on c.id = ${data('call_id')} and c.mint is not null
        where ${IS_OF_CALL} and e.at >= $1 and ${data('amount_atomic')} is not null and c.id is null
        order by e.seq limit ${MOST}`,
    },
  } as const satisfies Record<string, Statement>;
}

function paymentsStatement(data: (key: string) => string): Statement {
  const listed = COMPARED.map(([what, , key]) => `max(${data(key)}) as ${what}`).join(', ');
  const shown = COMPARED.map(([what, booked]) => `${booked} as booked_${what}, told.${what} as told_${what}`).join(
    ', ',
  );
  const differs = COMPARED.map(([what, booked]) => `told.${what} is distinct from ${booked}`).join(' or ');
  return {
    name: 'tollhouse_told_payments',
    text: `select p.id, p.state, ${TOLD_TYPE} as told_type, coalesce(told.times, 0) as times, ${shown},
        coalesce(p.owner, p.pay_to) as booked_owner, told.told_owner,
        p.project_id as booked_project, told.told_project
      from tollhouse_payment p left join (
        select ${data('payment_id')} as subject, e.type, count(*) as times, max(e.owner) as told_owner,
          max(e.project_id) as told_project, ${listed}
        from tollhouse_event e where e.type in ('payment.settled', 'payment.expired') and e.at >= $3
        group by ${data('payment_id')}, e.type) told on told.subject = p.id and told.type = ${TOLD_TYPE}
      where p.network = $1 and p.claimed_at >= $2 and (
        (p.state in ('confirmed', 'served') and (told.times is null or told.times <> 1
          or told.told_owner <> coalesce(p.owner, p.pay_to) or told.told_project is distinct from p.project_id
          or ${differs}))
        or (p.state not in ('confirmed', 'served') and told.times is not null))
      order by p.claimed_at, p.id limit ${MOST}`,
  };
}

function toTold(row: Row): ToldPayment {
  const compared = [...COMPARED.map(([what]) => what), 'owner', 'project'];
  const both = compared.map((what) => ({
    what,
    booked: shownOf(what, row[`booked_${what}`]),
    told: String(row[`told_${what}`] ?? 'none'),
  }));
  const times = Number(row.times);
  return {
    id: String(row.id),
    state: row.state as PaymentState,
    type: row.told_type as ToldPayment['type'],
    times,
    differs: times === 0 ? [] : both.filter(({ booked, told }) => booked !== told),
  };
}

/** Amounts above 2^63 - 1 look negative in SQL. */
function shownOf(what: string, value: Row[string] | undefined): string {
  if (what === 'amount') return String(amountOf(value));
  return String(value ?? 'none');
}

function isMistold({ state, times, differs }: ToldPayment): boolean {
  const hasLanded = state === 'confirmed' || state === 'served';
  return times !== (hasLanded ? 1 : 0) || differs.length > 0;
}

function toStray(row: Row): StrayEvent {
  return {
    eventId: String(row.id),
    type: String(row.type),
    subject: String(row.subject),
    state: row.state === null ? undefined : String(row.state),
  };
}

function toUntold({ id, times }: Row): Untold {
  return { id: String(id), times: Number(times) };
}
