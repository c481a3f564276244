import type { Dialect } from '../sql-database.js';
import { columnTypes, createTable } from './schema-step.js';

/** Webhooks, the deliveries of events to them, and each attempt at a delivery. Times are milliseconds since the epoch. */
export function webhooks(dialect: Dialect): readonly string[] {
  return [...webhook(dialect), ...delivery(dialect), ...attempt(dialect)];
}

/** `events` is a JSON list of types, or of `*`. `failing_since` is when the first attempt failed since the last that did not. */
function webhook(dialect: Dialect): readonly string[] {
  const { text } = columnTypes(dialect);
  return [
    createTable('tollhouse_webhook', {
      id: `${text} not null primary key`,
      owner: `${text} not null`,
      project_id: text,
      url: `${text} not null`,
      events: `${text} not null`,
      description: text,
      secret: `${text} not null`,
      previous_secret: text,
      previous_until: 'bigint',
      status: `${text} not null`,
      disabled_reason: text,
      failing_since: 'bigint',
      created_at: 'bigint not null',
      updated_at: 'bigint not null',
    }),
    'create index tollhouse_webhook_owner on tollhouse_webhook (owner, created_at, id)',
  ];
}

/**
 * A delivery is due at `next_at`. Whoever takes it puts a `lease` on it and moves `next_at` to the end of the lease: nobody
 * has to find out that a holder is gone. `place` counts the attempts of the present schedule, `attempts` all.
 */
function delivery(dialect: Dialect): readonly string[] {
  const { text } = columnTypes(dialect);
  return [
    createTable(
      'tollhouse_delivery',
      {
        id: `${text} not null primary key`,
        event_id: `${text} not null`,
        webhook_id: `${text} not null`,
        state: `${text} not null`,
        attempts: 'integer default 0 not null',
        place: 'integer default 0 not null',
        next_at: 'bigint',
        lease: text,
        created_at: 'bigint not null',
        finished_at: 'bigint',
      },
      { constraint: '"tollhouse_delivery_event" unique ("event_id", "webhook_id")' },
    ),
    `create index tollhouse_delivery_due on tollhouse_delivery (webhook_id, next_at) where state = 'pending'`,
    'create index tollhouse_delivery_held on tollhouse_delivery (webhook_id, next_at) where lease is not null',
    'create index tollhouse_delivery_webhook on tollhouse_delivery (webhook_id, created_at, id)',
    'create index tollhouse_delivery_end on tollhouse_delivery (coalesce(finished_at, next_at))',
  ];
}

function attempt(dialect: Dialect): readonly string[] {
  const { text } = columnTypes(dialect);
  return [
    createTable(
      'tollhouse_delivery_attempt',
      {
        delivery_id: `${text} not null references "tollhouse_delivery" ("id") on delete cascade`,
        number: 'integer not null',
        at: 'bigint not null',
        duration_ms: 'integer not null',
        status: 'integer',
        error: text,
        answer: text,
      },
      { constraint: '"tollhouse_delivery_attempt_key" primary key ("delivery_id", "number")' },
    ),
  ];
}
