import { EVENT_COLUMNS } from '../events/event-rows.js';
import { type ColumnValues, valuesOf } from '../sql/columns.js';
import type { Dialect, Statement, Step } from '../sql/sql-database.js';
import { WEBHOOK_COLUMNS } from './webhook-rows.js';

const DELIVERY =
  'delivery.id, webhook_id, event_id, event.type, state, attempts, next_at, delivery.created_at, finished_at';
const JOINED = `from tollhouse_delivery as delivery join tollhouse_event as event on event.id = delivery.event_id`;
const EVENT = EVENT_COLUMNS.split(', ').map((column) => `event.${column}`);
/** Makes a delivery due at `$2`, by a new schedule. */
const ANEW = `state = 'pending', place = 0, next_at = $2, finished_at = null`;

const ANSWERING_FIRST = 'case when failing_since is null then 0 else 1 end';

/** Deliveries that somebody holds, in a statement. */
function underWay(now: string): string {
  return `from tollhouse_delivery where lease is not null and next_at > ${now}`;
}

/** How many events one statement of {@link DELIVERIES.fannedOut} marks. */
export const FANNED_AT_ONCE = 20;
const places = Array.from({ length: FANNED_AT_ONCE }, (_, at) => `$${at + 1}`).join(', ');

/** Of so many new events the next are chosen. */
const FRESH_AT_ONCE = 5_000;

/** The statements of the outbox, the same for every database; {@link takingStatements} besides. */
export const DELIVERIES = {
  /** New events, each with every webhook that may want it, or none. Owners take turns: who has many waits for himself. */
  outbox: {
    name: 'tollhouse_outbox',
    text: `select fresh.id as event_id, fresh.type, webhook.id as webhook_id, webhook.events, webhook.status
      from (
        select seq, id, type, owner, project_id, row_number() over (partition by owner order by seq) as turn from (
          select seq, id, type, owner, project_id from tollhouse_event
          where fanned_out = 0 order by seq limit ${FRESH_AT_ONCE}) as waiting
        order by turn, seq limit $1) as fresh
      left join tollhouse_webhook as webhook on webhook.owner = fresh.owner
        and (webhook.project_id is null or webhook.project_id = fresh.project_id)
      order by fresh.turn, fresh.seq, webhook.id`,
  },
  fannedOut: {
    name: 'tollhouse_fanned_out',
    text: `update tollhouse_event set fanned_out = 1 where id in (${places})`,
  },
  /** Owners take turns: those come first who have the least under way. `$5` is 1 for those only that are prompt, or 0. */
  due: {
    name: 'tollhouse_delivery_due',
    text: `select ${WEBHOOK_COLUMNS} from (
        select webhook.*, busy + row_number() over (partition by owner order by ${ANSWERING_FIRST}, waiting) as turn from (
          select webhook.*,
            (select min(next_at) from tollhouse_delivery where webhook_id = webhook.id and state = 'pending') as waiting,
            (select count(*) ${underWay('$1')} and owner = webhook.owner) as busy,
            (select count(*) ${underWay('$1')} and owner = webhook.owner and address = coalesce(webhook.address, '')) as busy_here
          from tollhouse_webhook as webhook where status = 'enabled' and prompt >= $5) as webhook
        where waiting <= $1 and busy_here < $2 and busy < $4) as webhook
      order by turn, ${ANSWERING_FIRST}, waiting limit $3`,
  },
  taken: {
    name: 'tollhouse_delivery_taken',
    text: `select delivery.id as delivery_id, attempts, place, ${EVENT.join(', ')} ${JOINED}
      where webhook_id = $1 and lease = $2 order by event.tx, event.seq`,
  },
  /** `$3` is null when there is another attempt; what was given up meanwhile stays so. */
  record: {
    name: 'tollhouse_delivery_record',
    text: `update tollhouse_delivery set attempts = attempts + 1, place = place + 1, lease = null,
        state = coalesce($3, state), finished_at = coalesce($4, finished_at),
        next_at = case when state = 'pending' then cast($5 as bigint) else null end
      where id = $1 and lease = $2 returning id`,
  },
  recordAttempt: {
    name: 'tollhouse_delivery_attempt',
    text: `insert into tollhouse_delivery_attempt
        (delivery_id, number, at, duration_ms, status, error, answer, webhook_id, delivered)
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
  },
  /** All but the newest `$3` of those of a webhook that have succeeded, or of the others. */
  forgetAttempts: {
    name: 'tollhouse_delivery_forget_attempts',
    text: `delete from tollhouse_delivery_attempt where webhook_id = $1 and delivered = $2 and at < (
        select at from tollhouse_delivery_attempt where webhook_id = $1 and delivered = $2
        order by at desc limit 1 offset $3 - 1)`,
  },
  succeeding: {
    name: 'tollhouse_webhook_succeeding',
    text: `update tollhouse_webhook set failing_since = null, prompt = $2
      where id = $1 and (failing_since is not null or prompt <> $2)`,
  },
  failing: {
    name: 'tollhouse_webhook_failing',
    text: `update tollhouse_webhook set failing_since = coalesce(failing_since, $2), prompt = 0
      where id = $1 and (failing_since is null or prompt <> 0)`,
  },
  list: {
    name: 'tollhouse_delivery_list',
    text: `select ${DELIVERY} ${JOINED}
      where webhook_id = $1 and ($2 = '' or state = $2) and (delivery.created_at, delivery.id) < ($3, $4)
      order by delivery.created_at desc, delivery.id desc limit $5`,
  },
  find: {
    name: 'tollhouse_delivery_find',
    text: `select ${DELIVERY} ${JOINED} where delivery.id = $1 and webhook_id = $2`,
  },
  attempts: {
    name: 'tollhouse_delivery_attempts',
    text: `select number, at, duration_ms, status, error, answer from tollhouse_delivery_attempt
      where delivery_id = $1 order by number`,
  },
  retry: {
    name: 'tollhouse_delivery_retry',
    text: `update tollhouse_delivery set ${ANEW} where id = $1 and (lease is null or next_at <= $2) returning id`,
  },
  recover: {
    name: 'tollhouse_delivery_recover',
    text: `update tollhouse_delivery set ${ANEW} where id in (
        select id from tollhouse_delivery
        where webhook_id = $1 and state = 'failed' and created_at >= $3 and (lease is null or next_at <= $2)
        order by created_at limit $4)
      returning id`,
  },
  prune: {
    name: 'tollhouse_delivery_prune',
    text: `delete from tollhouse_delivery where id in (
        select id from tollhouse_delivery where coalesce(finished_at, next_at) < $1
        order by coalesce(finished_at, next_at) limit $2)
      returning id`,
  },
  pruneAsked: {
    name: 'tollhouse_delivery_prune_asked',
    text: `delete from tollhouse_delivery where id in (
        select delivery.id ${JOINED} where event.type = 'payment.created' and event.at < $1
        order by event.at limit $2)
      returning id`,
  },
} as const satisfies Record<string, Statement>;

/** How many deliveries one statement of {@link insertDeliveries} writes. */
export const INSERTED_AT_ONCE = 40;
const INSERTED = ['id', 'event_id', 'webhook_id', 'state', 'next_at', 'created_at', 'finished_at', 'place'] as const;

/** A delivery as {@link insertDeliveries} writes it. */
export type NewDelivery = ColumnValues<(typeof INSERTED)[number]>;

/** Writes deliveries, at most {@link INSERTED_AT_ONCE}; those that are there stay as they are. */
export function insertDeliveries(rows: readonly NewDelivery[]): Step {
  const places = rows.map(
    (_, at) => `(${INSERTED.map((_, column) => `$${at * INSERTED.length + column + 1}`).join(', ')})`,
  );
  const text = `insert into tollhouse_delivery (${INSERTED.join(', ')}) values ${places.join(', ')}
    on conflict (event_id, webhook_id) do nothing`;
  return [
    { name: `tollhouse_delivery_insert_${rows.length}`, text },
    ...rows.flatMap((row) => valuesOf(INSERTED, row)),
  ];
}

/**
 * The statements that take deliveries, to be run in one transaction: workers that take from one owner's webhooks do so one
 * after another, or they would not see how many the others hold. In SQLite writers always do.
 */
export function takingStatements(dialect: Dialect) {
  const [lock, skip] =
    dialect === 'postgres'
      ? ['pg_advisory_xact_lock(hashtextextended(owner, 0))', 'for update skip locked']
      : ['id', ''];
  return {
    lock: { name: 'tollhouse_webhook_lock', text: `select ${lock} from tollhouse_webhook where id = $1` },
    take: {
      name: 'tollhouse_delivery_take',
      text: `with target as (
          select owner as target_owner, coalesce(address, '') as target_address from tollhouse_webhook where id = $1),
        room as (
          select $5 - (select count(*) ${underWay('$3')} and owner = target_owner and address = target_address) as here,
            $6 - (select count(*) ${underWay('$3')} and owner = target_owner) as in_all from target),
        taken as materialized (
          select id from tollhouse_delivery where webhook_id = $1 and state = 'pending' and next_at <= $3
          order by next_at limit coalesce((
            select case when here <= 0 or in_all <= 0 then 0 when here < in_all then here else in_all end from room), 0) ${skip})
        update tollhouse_delivery set lease = $2, next_at = $4,
          owner = (select target_owner from target), address = (select target_address from target)
        where id in (select id from taken)`,
    },
  } as const satisfies Record<string, Statement>;
}
