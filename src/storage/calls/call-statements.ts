import { namesOf, placesOf } from '../sql/columns.js';
import type { Statement } from '../sql/sql-database.js';
import { halves } from '../sql/sql-sums.js';
import { CALL_COLUMNS } from './call-rows.js';

const NAMES = namesOf(CALL_COLUMNS);
const CALL = NAMES.join(', ');
const SUMMED = `'calls', 'paid', 'challenged', 'refused', 'upstream_errors', 'latency', 'revenue', 'refusals', 'credit_given',
  'credit_used', 'pass_uses', 'passes_sold', 'upstream_ms', 'gateway_ms'`;
/** Number of the step, from 0, that a sum is of: a range from `$2` to `$3` in steps of `$4`. */
const STEP = '(hour - cast($2 as bigint)) / cast($4 as bigint)';

/** The statements over calls and their sums, the same for every database. */
export const CALLS = {
  insert: {
    name: 'tollhouse_insert_call',
    text: `insert into tollhouse_call (${CALL}) values (${placesOf(NAMES)})`,
  },
  sums: {
    name: 'tollhouse_sum_rollups',
    text: `select kind, label, ${STEP} as step, ${halves('value')} from tollhouse_rollup
      where project_id = $1 and kind in (${SUMMED}) and hour >= $2 and hour < $3
      group by kind, label, ${STEP}`,
  },
  payersByStep: {
    name: 'tollhouse_count_payers_by_step',
    text: `select ${STEP} as step, count(distinct label) as payers from tollhouse_rollup
      where project_id = $1 and kind = 'payers' and hour >= $2 and hour < $3
      group by ${STEP}`,
  },
  /** Of days of UTC, in each of which a wallet has one row. */
  payersByDay: {
    name: 'tollhouse_count_payers_by_day',
    text: `select ${STEP} as step, count(*) as payers from tollhouse_rollup
      where project_id = $1 and kind = 'payers_day' and hour >= $2 and hour < $3
      group by hour`,
  },
  routes: {
    name: 'tollhouse_sum_routes',
    text: `select kind, label, ${halves('value')} from tollhouse_rollup
      where project_id = $1 and kind in ('route_calls', 'route_paid', 'route_revenue') and hour >= $2 and hour < $3
      group by kind, label`,
  },
  /** From `$2` to `$3`: whole days from `$4` to `$5`, and what is before and after them. */
  payers: {
    name: 'tollhouse_count_payers',
    text: `select count(*) as payers from (
        select label from tollhouse_rollup where project_id = $1 and kind = 'payers_day' and hour >= $4 and hour < $5
        union select label from tollhouse_rollup where project_id = $1 and kind = 'payers' and hour >= $2 and hour < $4
        union select label from tollhouse_rollup where project_id = $1 and kind = 'payers' and hour >= $5 and hour < $3
      ) as wallets`,
  },
  /** Looks at the oldest rows only: they were written about in the order of their times. */
  prune: {
    name: 'tollhouse_prune_calls',
    text: `delete from tollhouse_call where seq in (
        select seq from (select seq, at from tollhouse_call order by seq limit $2) as oldest where at < $1)
      returning seq`,
  },
  /** What was given and used of credit must explain what there is of it. */
  pruneSums: {
    name: 'tollhouse_prune_rollups',
    text: `delete from tollhouse_rollup where (project_id, kind, hour, label) in (
        select project_id, kind, hour, label from tollhouse_rollup
        where hour < $1 and kind not in ('credit_given', 'credit_used') order by hour limit $2)
      returning hour`,
  },
} as const satisfies Record<string, Statement>;
