import type { Statement } from '../sql/sql-database.js';
import { PASS_COLUMNS } from './pass-statements.js';

/** The pass of a wallet (`$1`) for a site and a scope (`$2`, `$3`) that a payment at a time (`$4`) renews. */
const RENEWABLE = `wallet = $1 and site = $2 and scope = $3 and grace_ms is not null and revoked_at is null
  and ends_at > cast($4 as bigint)`;
const PERIODS = 'from tollhouse_pass_period where pass_id = tollhouse_pass.id';
/** What was paid for, from the beginning on, and the longest grace that was offered with it: the same however often it is asked. */
const END = `opened_at + (select cast(sum(lasts_ms) as bigint) ${PERIODS}) + (select max(grace_ms) ${PERIODS})`;

/**
 * The steps by which a payment (`$5`) buys a time that can be renewed, in this order and in one transaction. Each does nothing where
 * it was done before.
 */
export const RENEWALS = {
  /** Postgres only: two payments of one wallet for the same are one after the other, so that the second finds the pass of the first. */
  lock: { name: 'tollhouse_lock_renewal', text: 'select pg_advisory_xact_lock(hashtextextended($1, 0))' },
  open: {
    name: 'tollhouse_open_renewable',
    text: `insert into tollhouse_pass (${PASS_COLUMNS.join(', ')}, over_at)
      select cast($6 as text), cast($5 as text), cast($1 as text), cast($2 as text), cast($3 as text), 'until', null, null, null, 0,
        cast($4 as bigint), cast($7 as bigint), null, cast($8 as bigint), cast($9 as text), cast($10 as text), cast($7 as bigint)
      where not exists (select 1 from tollhouse_pass where ${RENEWABLE})
        and not exists (select 1 from tollhouse_pass_period join tollhouse_pass on id = pass_id
          where tollhouse_pass_period.payment_id = $5)
      on conflict do nothing returning id`,
  },
  note: {
    name: 'tollhouse_note_period',
    text: `insert into tollhouse_pass_period (payment_id, pass_id, lasts_ms, grace_ms, at)
      select cast($5 as text), id, cast($6 as bigint), cast($7 as bigint), cast($4 as bigint) from tollhouse_pass
      where ${RENEWABLE} order by ends_at desc, id limit 1
      on conflict (payment_id) do update set pass_id = excluded.pass_id
        where not exists (select 1 from tollhouse_pass where id = tollhouse_pass_period.pass_id)`,
  },
  prolong: {
    name: 'tollhouse_prolong_pass',
    text: `update tollhouse_pass set grace_ms = (select max(grace_ms) ${PERIODS}), ends_at = ${END},
        over_at = case when revoked_at is null then ${END} else over_at end
      where id = (select pass_id from tollhouse_pass_period where payment_id = $1)`,
  },
  /** Of a pass that is forgotten. */
  prune: { name: 'tollhouse_prune_periods', text: 'delete from tollhouse_pass_period where pass_id = $1' },
} as const satisfies Record<string, Statement>;
