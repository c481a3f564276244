import type { Migration, sql as Sql } from 'kysely';
import type { Dialect } from '../sql-database.js';
import { columnTypes } from './column-types.js';

/**
 * Events; to whom a payment belongs; and who gets which part of it, until that is in the book of what is owed (`accrued`). An event is written with what it tells; a worker makes its deliveries
 * afterwards (`fanned_out`). Readers go by `(tx, seq)`: in Postgres a number that was drawn earlier may be committed later,
 * so that only events of transactions older than every running one are shown.
 */
export function events(sql: typeof Sql, dialect: Dialect): Migration {
  const { text, serial } = columnTypes(sql, dialect);
  const transaction = dialect === 'postgres' ? sql`(pg_current_xact_id()::text::bigint)` : sql`0`;
  return {
    async up(db) {
      await db.schema.alterTable('tollhouse_payment').addColumn('owner', text).execute();
      await db.schema.alterTable('tollhouse_payment').addColumn('project_id', text).execute();
      await db.schema.alterTable('tollhouse_payment').addColumn('owed', text).execute();
      await db.schema
        .alterTable('tollhouse_payment')
        .addColumn('accrued', 'integer', (it) => it.notNull().defaultTo(0))
        .execute();
      await sql`create index tollhouse_payment_owed on tollhouse_payment (id) where owed is not null and accrued = 0`.execute(
        db,
      );
      await db.schema.alterTable('tollhouse_payment_request').addColumn('reference', text).execute();
      await sql`create index tollhouse_request_reference on tollhouse_payment_request (reference)`.execute(db);
      await db.schema
        .createTable('tollhouse_event')
        .addColumn('seq', serial, (it) => it.primaryKey())
        .addColumn('tx', 'bigint', (it) => it.notNull().defaultTo(transaction))
        .addColumn('id', text, (it) => it.notNull().unique())
        .addColumn('type', text, (it) => it.notNull())
        .addColumn('at', 'bigint', (it) => it.notNull())
        .addColumn('owner', text, (it) => it.notNull())
        .addColumn('project_id', text)
        .addColumn('data', text, (it) => it.notNull())
        .addColumn('fanned_out', 'integer', (it) => it.notNull().defaultTo(0))
        .execute();
      await sql`create index tollhouse_event_owner on tollhouse_event (owner, tx, seq)`.execute(db);
      await sql`create index tollhouse_event_order on tollhouse_event (tx, seq)`.execute(db);
      await sql`create index tollhouse_event_outbox on tollhouse_event (seq) where fanned_out = 0`.execute(db);
      await sql`create index tollhouse_event_at on tollhouse_event (at)`.execute(db);
    },
  };
}
