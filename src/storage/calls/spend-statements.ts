import { SPENDING_WINDOWS } from '../keys/service-keys.js';
import { isOfMoney } from '../sql/of-money.js';
import type { Statement } from '../sql/sql-database.js';
import { halves, saturatingSum } from '../sql/sql-sums.js';
import type { BudgetWindow } from './call-store.js';

/** Primary key of `tollhouse_spend`. */
export const SPEND_KEY = 'key_id, period, start, mint, project_id';

/** What `add` takes, in its order: the windows by their starts. */
export const SPEND_INPUT = {
  key_id: 'text',
  hour: 'bigint',
  day: 'bigint',
  month: 'bigint',
  mint: 'text',
  project_id: 'text',
  owner: 'text',
  amount: 'bigint',
} as const;

/** Where the parameters of a look at budgets are; the start of `total` is always 0. */
type BudgetPlaces = Readonly<Record<'key' | 'mint' | 'now' | BudgetWindow, string>>;

/** What was spent in a window. */
function spent(window: BudgetWindow, at: BudgetPlaces): string {
  return `coalesce((select amount from tollhouse_spend
    where key_id = ${at.key} and period = '${window}' and start = ${at[window]} and mint = ${at.mint}
      and project_id = ''), 0)`;
}

/** The payment that a reservation is named by, or that of the payment request that it is named by. */
const PAID_WITH = `(tollhouse_reservation.id, (
    select attempt from tollhouse_payment_request where tollhouse_payment_request.id = tollhouse_reservation.id))`;
/** What has left the wallet, or may have, counts until the call that it pays is written, whatever became of who held it back. */
const IS_PAID = `exists (
    select 1 from tollhouse_payment where tollhouse_payment.id in ${PAID_WITH} and tollhouse_payment.state in ('broadcast', 'confirmed'))`;

/** What is held back in a window, for calls under way and for payments that wait for theirs. */
function heldBack(window: BudgetWindow, at: BudgetPlaces): string {
  const inWindow = window === 'total' ? '' : `and ${window} = ${at[window]}`;
  return `(select coalesce(sum(amount), 0) from tollhouse_reservation
    where key_id = ${at.key} and mint = ${at.mint} ${inWindow} and (ends_at > ${at.now} or ${IS_PAID}))`;
}

const RESERVE: BudgetPlaces = { key: '$2', mint: '$3', hour: '$5', day: '$6', month: '$7', total: '0', now: '$9' };
/** Limits of `reserve`. */
const LIMITS: Readonly<Record<BudgetWindow, string>> = { hour: '$10', day: '$11', month: '$12', total: '$13' };
const USED: BudgetPlaces = { key: '$1', mint: '$2', hour: '$3', day: '$4', month: '$5', total: '0', now: '$6' };

const hasRoom = (window: BudgetWindow) =>
  `cast($4 as bigint) <= cast(${LIMITS[window]} as bigint) - ${spent(window, RESERVE)} - ${heldBack(window, RESERVE)}`;
const usedIn = (window: BudgetWindow) =>
  `${spent(window, USED)} as ${window}_spent, ${heldBack(window, USED)} as ${window}_held`;

/** A project is on one network for ever: what was spent on it was money of that network. */
const BY_OWNER = `from tollhouse_spend s left join tollhouse_project p on p.id = s.project_id
  where s.owner = $1 and s.period = 'day' and s.project_id <> '' and s.start >= $2 and s.start < $3
  and ($4 = '' or s.key_id = $4) and ($5 = '' or s.project_id = $5)
  and ${isOfMoney('$6', '$7')}`;

/** The statements over what keys spend, the same for every database. */
export const SPEND = {
  /** The key's whole spending in each window, and its day on one project. */
  add: {
    name: 'tollhouse_add_spend',
    text: `insert into tollhouse_spend (${SPEND_KEY}, owner, amount, calls) values
        ($1, 'day', $3, $5, '', $7, $8, 1), ($1, 'day', $3, $5, $6, $7, $8, 1), ($1, 'hour', $2, $5, '', $7, $8, 1),
        ($1, 'month', $4, $5, '', $7, $8, 1), ($1, 'total', 0, $5, '', $7, $8, 1)
      on conflict (${SPEND_KEY}) do update set calls = tollhouse_spend.calls + 1,
        amount = ${saturatingSum('tollhouse_spend.amount', 'excluded.amount')}`,
  },
  /** Whoever spends or reserves for a key and a token waits for the end of the transaction. */
  lock: {
    name: 'tollhouse_lock_budget',
    text: `insert into tollhouse_spend (${SPEND_KEY}, owner, amount, calls) values ($1, 'total', 0, $2, '', $3, 0, 0)
      on conflict (${SPEND_KEY}) do update set amount = tollhouse_spend.amount`,
  },
  /** Under the lock. */
  reserve: {
    name: 'tollhouse_reserve',
    text: `insert into tollhouse_reservation (id, key_id, mint, amount, hour, day, month, ends_at)
      select cast($1 as text), cast($2 as text), cast($3 as text), cast($4 as bigint), cast($5 as bigint),
        cast($6 as bigint), cast($7 as bigint), cast($8 as bigint)
      where ${SPENDING_WINDOWS.map(hasRoom).join(' and ')}
      on conflict (id) do nothing
      returning id`,
  },
  reserved: { name: 'tollhouse_is_reserved', text: 'select id from tollhouse_reservation where id = $1' },
  used: { name: 'tollhouse_used_budget', text: `select ${SPENDING_WINDOWS.map(usedIn).join(', ')}` },
  giveBack: { name: 'tollhouse_give_back', text: 'delete from tollhouse_reservation where id = $1' },
  pruneReservations: {
    name: 'tollhouse_prune_reservations',
    text: `delete from tollhouse_reservation where id in (
        select id from tollhouse_reservation where ends_at <= $1 and not ${IS_PAID} limit $2)
      returning id`,
  },
  pruneHours: {
    name: 'tollhouse_prune_spend_hours',
    text: `delete from tollhouse_spend where (key_id, period, start, mint, project_id) in (
        select ${SPEND_KEY} from tollhouse_spend where period = 'hour' and start < $1 order by start limit $2)
      returning start`,
  },
  budgetUse: {
    name: 'tollhouse_budget_use',
    text: `select key_id, mint, period, amount from tollhouse_spend
      where key_id = $1 and project_id = '' and ((period = 'hour' and start = $2) or (period = 'day' and start = $3)
        or (period = 'month' and start = $4) or (period = 'total' and start = 0))
      order by mint, period`,
  },
  byProject: {
    name: 'tollhouse_spend_by_project',
    text: `select s.key_id, s.project_id, s.mint, p.network, sum(s.calls) as calls, ${halves('s.amount')} ${BY_OWNER}
      group by s.key_id, s.project_id, s.mint, p.network order by s.key_id, s.project_id, s.mint`,
  },
  byDay: {
    name: 'tollhouse_spend_by_day',
    text: `select s.start, s.mint, p.network, sum(s.calls) as calls, ${halves('s.amount')} ${BY_OWNER}
      group by s.start, s.mint, p.network order by s.start, s.mint, p.network`,
  },
  /** Returns a row when it was not told before: of this limit, this share or a higher one. */
  tell: {
    name: 'tollhouse_tell_budget',
    text: `insert into tollhouse_spend (${SPEND_KEY}, owner, amount, calls, told_percent, told_limit)
      values ($1, $2, $3, $4, '', $5, 0, 0, $6, $7)
      on conflict (${SPEND_KEY}) do update set told_percent = excluded.told_percent, told_limit = excluded.told_limit
        where tollhouse_spend.amount >= $8
          and (tollhouse_spend.told_percent < excluded.told_percent or tollhouse_spend.told_limit <> excluded.told_limit)
      returning key_id`,
  },
} as const satisfies Record<string, Statement>;
