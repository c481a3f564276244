import type { Kysely, Migration, RawBuilder, sql as Sql } from 'kysely';
import type { Dialect } from '../sql-database.js';
import { columnTypes } from './column-types.js';

/** How this dialect writes what the tables need. */
interface Forms {
  readonly sql: typeof Sql;
  readonly text: RawBuilder<unknown>;
  readonly serial: RawBuilder<unknown>;
  /** What goes behind the definition of a table of sums. */
  readonly sums: RawBuilder<unknown>;
}

/**
 * Calls, their sums by hour, what keys have spent, and what is held back for calls under way. Sums are never negative and
 * stop at 2^63 - 1. Rows of `tollhouse_spend` without a project are a key's whole spending, which its budgets look at.
 */
export function calls(sql: typeof Sql, dialect: Dialect): Migration {
  // Kept in the order of the key in SQLite; in Postgres with room for the next version of a row that changes all the time.
  const sums = dialect === 'postgres' ? sql`with (fillfactor = 70)` : sql`without rowid`;
  const forms: Forms = { sql, sums, ...columnTypes(sql, dialect) };
  return {
    async up(db) {
      await createCalls(db, forms);
      await createRollups(db, forms);
      await createSpend(db, forms);
      await createReservations(db, forms);
    },
  };
}

async function createCalls(db: Kysely<unknown>, { sql, text, serial }: Forms): Promise<void> {
  await db.schema
    .createTable('tollhouse_call')
    .addColumn('seq', serial, (it) => it.primaryKey())
    .addColumn('id', text, (it) => it.notNull())
    .addColumn('project_id', text, (it) => it.notNull())
    .addColumn('key_id', text)
    .addColumn('payer', text)
    .addColumn('at', 'bigint', (it) => it.notNull())
    .addColumn('method', text, (it) => it.notNull())
    .addColumn('status', 'integer')
    .addColumn('outcome', text, (it) => it.notNull())
    .addColumn('reason', text)
    .addColumn('mint', text)
    .addColumn('amount', 'bigint')
    .addColumn('payment_id', text)
    .addColumn('signature', text)
    .addColumn('duration_ms', 'bigint', (it) => it.notNull())
    .addColumn('request_id', text, (it) => it.notNull())
    .execute();
  await sql`create index tollhouse_call_project on tollhouse_call (project_id, seq)`.execute(db);
}

async function createRollups(db: Kysely<unknown>, { sql, text, sums }: Forms): Promise<void> {
  await db.schema
    .createTable('tollhouse_rollup')
    .addColumn('project_id', text, (it) => it.notNull())
    .addColumn('kind', text, (it) => it.notNull())
    .addColumn('hour', 'bigint', (it) => it.notNull())
    .addColumn('label', text, (it) => it.notNull())
    .addColumn('value', 'bigint', (it) => it.notNull())
    .addPrimaryKeyConstraint('tollhouse_rollup_key', ['project_id', 'kind', 'hour', 'label'])
    .modifyEnd(sums)
    .execute();
  await sql`create index tollhouse_rollup_hour on tollhouse_rollup (hour)`.execute(db);
}

async function createSpend(db: Kysely<unknown>, { sql, text, sums }: Forms): Promise<void> {
  await db.schema
    .createTable('tollhouse_spend')
    .addColumn('key_id', text, (it) => it.notNull())
    .addColumn('mint', text, (it) => it.notNull())
    .addColumn('period', text, (it) => it.notNull())
    .addColumn('start', 'bigint', (it) => it.notNull())
    .addColumn('project_id', text, (it) => it.notNull())
    .addColumn('owner', text, (it) => it.notNull())
    .addColumn('amount', 'bigint', (it) => it.notNull())
    .addColumn('calls', 'bigint', (it) => it.notNull())
    .addColumn('told_percent', 'integer', (it) => it.notNull().defaultTo(0))
    .addColumn('told_limit', 'bigint', (it) => it.notNull().defaultTo(0))
    .addPrimaryKeyConstraint('tollhouse_spend_key', ['key_id', 'period', 'start', 'mint', 'project_id'])
    .modifyEnd(sums)
    .execute();
  await sql`create index tollhouse_spend_hour on tollhouse_spend (start) where period = 'hour'`.execute(db);
  await sql`create index tollhouse_spend_owner on tollhouse_spend (owner, start) where period = 'day' and project_id <> ''`.execute(
    db,
  );
}

async function createReservations(db: Kysely<unknown>, { sql, text }: Forms): Promise<void> {
  await db.schema
    .createTable('tollhouse_reservation')
    .addColumn('id', text, (it) => it.primaryKey())
    .addColumn('key_id', text, (it) => it.notNull())
    .addColumn('mint', text, (it) => it.notNull())
    .addColumn('amount', 'bigint', (it) => it.notNull())
    .addColumn('hour', 'bigint', (it) => it.notNull())
    .addColumn('day', 'bigint', (it) => it.notNull())
    .addColumn('month', 'bigint', (it) => it.notNull())
    .addColumn('ends_at', 'bigint', (it) => it.notNull())
    .execute();
  await sql`create index tollhouse_reservation_key on tollhouse_reservation (key_id, mint)`.execute(db);
}
