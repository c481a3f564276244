import { jsonRows } from '../sql/json-groups.js';
import type { Dialect, Statement } from '../sql/sql-database.js';
import { MOST_PASSES, PRICE_OF } from './pass-store.js';

/** The columns of a pass, as its reader names them. */
export const PASS_COLUMNS = [
  'id',
  'payment_id',
  'wallet',
  'site',
  'scope',
  'kind',
  'mint',
  'bought',
  'remaining',
  'serial',
  'opened_at',
  'ends_at',
  'revoked_at',
  'grace_ms',
  'owner',
  'project_id',
] as const;

const COLUMNS = PASS_COLUMNS.join(', ');

/** Whether a pass may be used at a time. */
const isOpen = (pass: string, time: string) =>
  `${pass}.revoked_at is null and (${pass}.ends_at is null or ${pass}.ends_at > ${time})`;

/** What a request has taken; null, which is no amount, where that is nothing. */
const TAKEN = '(select amount from tollhouse_pass_debit where pass_id = $1 and request = $2)';

/** Whether all payments of a pass are forgotten. */
export const NO_PAYMENT = `not exists (select 1 from tollhouse_payment where tollhouse_payment.id = tollhouse_pass.payment_id)
  and not exists (select 1 from tollhouse_payment join tollhouse_pass_period
    on tollhouse_payment.id = tollhouse_pass_period.payment_id where pass_id = tollhouse_pass.id)`;

/** The statements over passes, the same for every database but for the debit of many. */
export const PASSES = {
  open: {
    name: 'tollhouse_open_pass',
    text: `insert into tollhouse_pass (${COLUMNS}, over_at)
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9, 0, $10, $11, null, null, $13, $14, $12) on conflict do nothing returning id`,
  },
  find: { name: 'tollhouse_find_pass', text: `select ${COLUMNS} from tollhouse_pass where id = $1` },
  findByPayment: {
    name: 'tollhouse_find_pass_of_payment',
    text: `select ${COLUMNS} from tollhouse_pass
      where payment_id = $1 or id = (select pass_id from tollhouse_pass_period where payment_id = $1)`,
  },
  findFor: {
    name: 'tollhouse_find_passes_for',
    text: `select ${COLUMNS} from tollhouse_pass where wallet = $1 and site = $2 and scope = $3
      order by case when over_at is null then 1 else 0 end desc, over_at desc, opened_at desc limit ${MOST_PASSES}`,
  },
  list: {
    name: 'tollhouse_list_passes',
    text: `select ${COLUMNS} from tollhouse_pass where wallet = $1 order by opened_at desc, id limit ${MOST_PASSES}`,
  },
  /** For one request; nothing is answered where nothing may be taken, or was taken before. */
  debit: {
    name: 'tollhouse_debit_pass',
    text: `update tollhouse_pass set remaining = remaining - $3,
        over_at = case when remaining = $3 then $5 else over_at end
      where id = $1 and remaining >= $3 and serial = coalesce($4, serial) and ${isOpen('tollhouse_pass', '$5')}
        and not exists (select 1 from tollhouse_pass_debit where pass_id = $1 and request = $2)
      returning remaining`,
  },
  noteDebit: {
    name: 'tollhouse_note_debit',
    text: 'insert into tollhouse_pass_debit (pass_id, request, amount, at) values ($1, $2, $3, $4)',
  },
  wasDebited: {
    name: 'tollhouse_was_debited',
    text: 'select amount from tollhouse_pass_debit where pass_id = $1 and request = $2',
  },
  /** Comes before its debits, as when something is taken: whoever takes or gives back meanwhile waits, and sees what was done. */
  lock: { name: 'tollhouse_lock_pass', text: 'update tollhouse_pass set serial = serial where id = $1' },
  /** Follows the lock as well. */
  adjust: {
    name: 'tollhouse_adjust_debit',
    text: `update tollhouse_pass set remaining = remaining + ${TAKEN} - $3,
        over_at = case when revoked_at is not null then over_at when remaining + ${TAKEN} = $3 then $4 else ends_at end
      where id = $1 and remaining + ${TAKEN} >= $3 and ($3 <= ${TAKEN} or ${isOpen('tollhouse_pass', '$4')})
      returning remaining`,
  },
  setDebit: {
    name: 'tollhouse_set_debit',
    text: 'update tollhouse_pass_debit set amount = $3 where pass_id = $1 and request = $2',
  },
  giveBack: {
    name: 'tollhouse_give_debit_back',
    text: `update tollhouse_pass set over_at = case when revoked_at is null then ends_at else over_at end,
        remaining = remaining + (select amount from tollhouse_pass_debit where pass_id = $1 and request = $2)
      where id = $1 and exists (select 1 from tollhouse_pass_debit where pass_id = $1 and request = $2 and amount > 0)
      returning id`,
  },
  endDebit: {
    name: 'tollhouse_end_debit',
    text: 'delete from tollhouse_pass_debit where pass_id = $1 and request = $2',
  },
  revoke: {
    name: 'tollhouse_revoke_pass',
    text: `update tollhouse_pass set revoked_at = $2, over_at = $2 where id = $1 and revoked_at is null returning id`,
  },
  withdrawTokens: {
    name: 'tollhouse_withdraw_tokens',
    text: 'update tollhouse_pass set serial = serial + 1 where id = $1 returning serial',
  },
  /** Of those that are used up, `over_at` is when they were. */
  untold: {
    name: 'tollhouse_untold_passes',
    text: `select ${COLUMNS}, over_at from tollhouse_pass where told = 0 and over_at <= $1
        and (remaining is null or remaining > 0 or revoked_at is not null or over_at <= $2)
      order by over_at limit $3`,
  },
  /** Nothing where another one has told it, or it is not as it was seen any more. */
  markTold: {
    name: 'tollhouse_mark_pass_told',
    text: `update tollhouse_pass set told = 1
      where id = $1 and told = 0 and over_at = $2 and coalesce(remaining, -1) = $3 returning id`,
  },
  makeSecret: {
    name: 'tollhouse_make_pass_secret',
    text: 'insert into tollhouse_pass_secret (name, secret) values ($1, $2) on conflict (name) do nothing',
  },
  secret: { name: 'tollhouse_pass_secret', text: 'select secret from tollhouse_pass_secret where name = $1' },
  /** A payment that is remembered could open it once more. */
  prune: {
    name: 'tollhouse_prune_passes',
    text: `delete from tollhouse_pass where id in (
        select id from tollhouse_pass where over_at < $1 and ${NO_PAYMENT} order by over_at limit $2)
      returning id`,
  },
  /**
   * What a payment has taken whose response is owed says that it may be served, and that nothing was given back. What a refund has
   * taken is given back where it fails.
   */
  pruneDebits: {
    name: 'tollhouse_prune_debits',
    text: `delete from tollhouse_pass_debit where (pass_id, request) in (
        select pass_id, request from tollhouse_pass_debit where at < $1 and not exists (
          select 1 from tollhouse_payment p where p.id = tollhouse_pass_debit.request and p.state in ('broadcast', 'confirmed'))
        and not exists (
          select 1 from tollhouse_refund r
          where r.id = tollhouse_pass_debit.request and r.state in ('planned', 'taken', 'broadcast'))
        order by at limit $2)
      returning request`,
  },
} as const satisfies Record<string, Statement>;

/**
 * Postgres: for requests that come at the same time, the sum of those of one pass at once, all or nothing for each pass.
 * Passes are locked in the order of their ids, so that two instances do not wait for each other.
 */
export const DEBIT_MANY: Statement = {
  name: 'tollhouse_debit_passes',
  text: `with wanted as materialized (
      select * from ${jsonRows('$1::json', 'wanted', { id: 'text', serial: 'integer', amount: 'bigint' })}),
    locked as materialized (
      select p.id from tollhouse_pass p join wanted w on w.id = p.id order by p.id for no key update of p),
    taken as (
      update tollhouse_pass p set remaining = p.remaining - w.amount,
        over_at = case when p.remaining = w.amount then $3 else p.over_at end
      from wanted w join locked l on l.id = w.id
      where p.id = w.id and p.remaining >= w.amount and p.serial = coalesce(w.serial, p.serial) and ${isOpen('p', '$3')}
      returning p.id, p.remaining),
    noted as (
      insert into tollhouse_pass_debit (pass_id, request, amount, at)
      select d.pass_id, d.request, d.amount, $3
      from ${jsonRows('$2::json', 'd', { pass_id: 'text', request: 'text', amount: 'bigint' })}
      join taken t on t.id = d.pass_id)
    select id, remaining from taken`,
};

/** Of the scopes in a JSON list those in which credit for a price is left; a look into the index for each. */
export const PRICE_SCOPES: Readonly<Record<Dialect, Statement>> = {
  sqlite: priceScopes('json_each($1) asked'),
  postgres: priceScopes('json_array_elements_text($1::json) as asked(value)'),
};

function priceScopes(asked: string): Statement {
  return {
    name: 'tollhouse_price_scopes',
    text: `select asked.value as scope from ${asked} where exists (
      select 1 from tollhouse_pass where scope = asked.value and over_at is null and scope like '${PRICE_OF}%')`,
  };
}
