import type { Kysely, Migration, sql as Sql } from 'kysely';
import type { Dialect } from '../sql-database.js';
import { columnTypes } from './column-types.js';

type Tables = (db: Kysely<unknown>, sql: typeof Sql, types: ReturnType<typeof columnTypes>) => Promise<void>;

/** Webhooks, the deliveries of events to them, and each attempt at a delivery. Times are milliseconds since the epoch. */
export function webhooks(sql: typeof Sql, dialect: Dialect): Migration {
  const types = columnTypes(sql, dialect);
  return {
    async up(db) {
      for (const make of [webhook, delivery, attempt]) await make(db, sql, types);
    },
  };
}

/** `events` is a JSON list of types, or of `*`. `failing_since` is when the first attempt failed since the last that did not. */
const webhook: Tables = async (db, sql, { text }) => {
  await db.schema
    .createTable('tollhouse_webhook')
    .addColumn('id', text, (it) => it.primaryKey().notNull())
    .addColumn('owner', text, (it) => it.notNull())
    .addColumn('project_id', text)
    .addColumn('url', text, (it) => it.notNull())
    .addColumn('events', text, (it) => it.notNull())
    .addColumn('description', text)
    .addColumn('secret', text, (it) => it.notNull())
    .addColumn('previous_secret', text)
    .addColumn('previous_until', 'bigint')
    .addColumn('status', text, (it) => it.notNull())
    .addColumn('disabled_reason', text)
    .addColumn('failing_since', 'bigint')
    .addColumn('created_at', 'bigint', (it) => it.notNull())
    .addColumn('updated_at', 'bigint', (it) => it.notNull())
    .execute();
  await sql`create index tollhouse_webhook_owner on tollhouse_webhook (owner, created_at, id)`.execute(db);
};

/**
 * A delivery is due at `next_at`. Whoever takes it puts a `lease` on it and moves `next_at` to the end of the lease: nobody
 * has to find out that a holder is gone. `place` counts the attempts of the present schedule, `attempts` all.
 */
const delivery: Tables = async (db, sql, { text }) => {
  await db.schema
    .createTable('tollhouse_delivery')
    .addColumn('id', text, (it) => it.primaryKey().notNull())
    .addColumn('event_id', text, (it) => it.notNull())
    .addColumn('webhook_id', text, (it) => it.notNull())
    .addColumn('state', text, (it) => it.notNull())
    .addColumn('attempts', 'integer', (it) => it.notNull().defaultTo(0))
    .addColumn('place', 'integer', (it) => it.notNull().defaultTo(0))
    .addColumn('next_at', 'bigint')
    .addColumn('lease', text)
    .addColumn('created_at', 'bigint', (it) => it.notNull())
    .addColumn('finished_at', 'bigint')
    .addUniqueConstraint('tollhouse_delivery_event', ['event_id', 'webhook_id'])
    .execute();
  const on = sql`on tollhouse_delivery`;
  await sql`create index tollhouse_delivery_due ${on} (webhook_id, next_at) where state = 'pending'`.execute(db);
  await sql`create index tollhouse_delivery_held ${on} (webhook_id, next_at) where lease is not null`.execute(db);
  await sql`create index tollhouse_delivery_webhook ${on} (webhook_id, created_at, id)`.execute(db);
  await sql`create index tollhouse_delivery_end ${on} (coalesce(finished_at, next_at))`.execute(db);
};

const attempt: Tables = async (db, _sql, { text }) => {
  await db.schema
    .createTable('tollhouse_delivery_attempt')
    .addColumn('delivery_id', text, (it) => it.notNull().references('tollhouse_delivery.id').onDelete('cascade'))
    .addColumn('number', 'integer', (it) => it.notNull())
    .addColumn('at', 'bigint', (it) => it.notNull())
    .addColumn('duration_ms', 'integer', (it) => it.notNull())
    .addColumn('status', 'integer')
    .addColumn('error', text)
    .addColumn('answer', text)
    .addPrimaryKeyConstraint('tollhouse_delivery_attempt_key', ['delivery_id', 'number'])
    .execute();
};
