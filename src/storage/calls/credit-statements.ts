import { isOfMoney } from '../sql/of-money.js';
import type { Statement } from '../sql/sql-database.js';
import { halves, saturatingSum } from '../sql/sql-sums.js';

const KEY = 'key_id, project_id, mint';
const KEYS_OF_SUMS = 'sums.key_id, sums.project_id, sums.mint';
const MOST = 1_000;
/** What is there, and what of it is held. */
const ALL = `(select ${KEY}, owner, amount from tollhouse_credit
    union all
    select c.key_id, c.project_id, c.mint, c.owner, h.amount from tollhouse_credit_hold h join tollhouse_credit c
      on c.key_id = h.key_id and c.project_id = h.project_id and c.mint = h.mint) as sums`;

/** The statements over credit, the same for every database. */
export const CREDIT = {
  give: {
    name: 'tollhouse_give_credit',
    text: `insert into tollhouse_credit (${KEY}, owner, amount) values ($1, $2, $3, $4, $5)
      on conflict (${KEY}) do update set amount = ${saturatingSum('tollhouse_credit.amount', 'excluded.amount')}`,
  },
  left: {
    name: 'tollhouse_credit_left',
    text: 'select amount from tollhouse_credit where key_id = $1 and project_id = $2 and mint = $3',
  },
  take: {
    name: 'tollhouse_take_credit',
    text: `update tollhouse_credit set amount = amount - $4
      where key_id = $1 and project_id = $2 and mint = $3 and amount >= $4 returning amount`,
  },
  hold: {
    name: 'tollhouse_hold_credit',
    text: `insert into tollhouse_credit_hold (id, ${KEY}, amount, ends_at) values ($1, $2, $3, $4, $5, $6)`,
  },
  extend: {
    name: 'tollhouse_extend_credit_hold',
    text: 'update tollhouse_credit_hold set ends_at = $2 where id = $1 returning id',
  },
  /** Holds of a key at a project: their processes may be gone. */
  heldBy: {
    name: 'tollhouse_credit_held_by',
    text: `select id, ends_at from tollhouse_credit_hold where key_id = $1 and project_id = $2 and mint = $3
      order by ends_at limit 100`,
  },
  ended: {
    name: 'tollhouse_ended_credit_holds',
    text: 'select id from tollhouse_credit_hold where ends_at <= $1 order by ends_at limit $2',
  },
  /** Whoever else ends the same hold waits, and finds none. */
  lockHold: {
    name: 'tollhouse_lock_credit_hold',
    text: 'update tollhouse_credit_hold set amount = amount where id = $1 returning id',
  },
  giveHeldBack: {
    name: 'tollhouse_give_held_credit_back',
    text: `update tollhouse_credit
      set amount = ${saturatingSum('amount', '(select h.amount from tollhouse_credit_hold h where h.id = $1)')}
      where exists (select 1 from tollhouse_credit_hold h where h.id = $1 and h.key_id = tollhouse_credit.key_id
        and h.project_id = tollhouse_credit.project_id and h.mint = tollhouse_credit.mint)`,
  },
  endHold: {
    name: 'tollhouse_end_credit_hold',
    text: 'delete from tollhouse_credit_hold where id = $1 returning id',
  },
  /** Only where nobody else has what is under the id `$2` of responses than the run with the lease `$3`. */
  endHoldOfRun: {
    name: 'tollhouse_end_credit_hold_of_run',
    text: `delete from tollhouse_credit_hold where id = $1 and not exists (
      select 1 from tollhouse_answer a where a.id = $2 and $3 <> '' and (a.lease <> $3 or a.answer is not null))
      returning id`,
  },
  /** A project is on one network for ever: so is what was paid for its calls. */
  ofOwner: {
    name: 'tollhouse_credit_of_owner',
    text: `select ${KEYS_OF_SUMS}, min(sums.owner) as owner, min(p.network) as network, ${halves('sums.amount')}
      from ${ALL} left join tollhouse_project p on p.id = sums.project_id
      where sums.owner = $1 and ($2 = '' or sums.key_id = $2) and ($3 = '' or sums.project_id = $3)
        and ${isOfMoney('$4', '$5')}
      group by ${KEYS_OF_SUMS} having sum(sums.amount) > 0 order by ${KEYS_OF_SUMS} limit ${MOST}`,
  },
  ofProject: {
    name: 'tollhouse_credit_of_project',
    text: `select mint, ${halves('amount')} from ${ALL} where project_id = $1 group by mint order by mint`,
  },
} as const satisfies Record<string, Statement>;
