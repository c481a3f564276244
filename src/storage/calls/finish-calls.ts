import { EVENT_INPUT, EVENT_INSERT, fannedOut } from '../events/event-statements.js';
import { ANSWER_INPUT, ANSWER_INSERT, ANSWER_REPLACES, ANSWER_VALUES } from '../idempotency/answer-rows.js';
import { jsonRows } from '../sql/json-groups.js';
import type { Statement } from '../sql/sql-database.js';
import { MAX_SUM, saturatingSum } from '../sql/sql-sums.js';
import { CALL_COLUMNS } from './call-rows.js';
import { ROLLUP_INPUT } from './rollups.js';
import { SPEND_INPUT, SPEND_KEY } from './spend-statements.js';

const FINISHED = {
  n: 'integer',
  payment: 'text',
  lease: 'text',
  time: 'bigint',
  reservation: 'text',
  call: 'json',
  events: 'json',
  spend: 'json',
  rollups: 'json',
  answers: 'json',
  answer_id: 'text',
} as const;

const listed = (columns: object) => Object.keys(columns).join(', ');
const ROLLUP_KEY = 'project_id, kind, hour, label';
/** Of amounts that are one row each. */
const sumOf = (column: string) => `cast(least(sum(${column}), ${MAX_SUM}) as bigint)`;

/**
 * Writes calls that are over, on Postgres: the payment that each uses up, its response, and, only where both were still held, everything
 * that is written with it. Sums are taken in the order of `rollupSteps`, so that nobody waits in a circle.
 */
export const FINISH_CALLS: Statement = {
  name: 'tollhouse_finish_calls',
  text: `with finished as materialized (select * from ${jsonRows('$1::json', 'finished', FINISHED)}),
    completed as (
      update tollhouse_payment set state = 'served', finished_at = time, lease = null from finished
      where id = payment and tollhouse_payment.lease = finished.lease and finished_at is null and state = 'confirmed'
      returning n),
    due as materialized (select * from finished where payment is null or n in (select n from completed)),
    answered as (
      insert into tollhouse_answer (${ANSWER_INSERT})
      select ${ANSWER_VALUES} from (
        select entry.* from due cross join lateral ${jsonRows('answers', 'entry', ANSWER_INPUT)}) as entries
      order by id
      ${ANSWER_REPLACES}),
    kept as materialized (select * from due where answer_id is null or answer_id in (select id from answered)),
    booked as (
      insert into tollhouse_call (${listed(CALL_COLUMNS)})
      select ${listed(CALL_COLUMNS)} from (
        select n, entry.* from kept cross join lateral ${jsonRows('call', 'entry', CALL_COLUMNS)}) as entries
      order by n),
    given_back as (delete from tollhouse_reservation using kept where id = reservation),
    told as (
      insert into tollhouse_event (${EVENT_INSERT})
      select ${listed(EVENT_INPUT)}, ${fannedOut('entries.owner')} from (
        select n, entry.* from kept cross join lateral ${jsonRows('events', 'entry', EVENT_INPUT)}) as entries
      order by n),
    spent as (
      insert into tollhouse_spend (${SPEND_KEY}, owner, amount, calls)
      select key_id, period, start, mint, project, min(owner), ${sumOf('amount')}, count(*)
      from kept cross join lateral ${jsonRows('spend', 'entry', SPEND_INPUT)}
        cross join lateral (values ('day', day, ''), ('day', day, project_id), ('hour', hour, ''),
          ('month', month, ''), ('total', 0, '')) as windows (period, start, project)
      group by key_id, period, start, mint, project
      order by key_id, period, start, mint, project
      on conflict (${SPEND_KEY}) do update set calls = tollhouse_spend.calls + excluded.calls,
        amount = ${saturatingSum('tollhouse_spend.amount', 'excluded.amount')}),
    summed as (
      insert into tollhouse_rollup (${listed(ROLLUP_INPUT)})
      select ${ROLLUP_KEY}, ${sumOf('value')}
      from kept cross join lateral ${jsonRows('rollups', 'entry', ROLLUP_INPUT)}
      group by ${ROLLUP_KEY}
      order by project_id collate "C", kind collate "C", hour, label collate "C"
      on conflict (${ROLLUP_KEY})
      do update set value = ${saturatingSum('tollhouse_rollup.value', 'excluded.value')})
    select n from kept`,
};
