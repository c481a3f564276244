import type { Kysely, Migration, sql as Sql } from 'kysely';
import type { Dialect } from '../sql-database.js';
import { columnTypes } from './column-types.js';

/**
 * What is owed of payments that went to a split wallet, a row for each payment and recipient, and the payouts that pay it.
 * Totals of a payout are text: several amounts of 64 bits need more than 64.
 */
export function payouts(sql: typeof Sql, dialect: Dialect): Migration {
  return {
    async up(db) {
      await addOwed(db, sql, dialect);
      await addPayout(db, sql, dialect);
    },
  };
}

async function addOwed(db: Kysely<unknown>, sql: typeof Sql, dialect: Dialect): Promise<void> {
  const { text } = columnTypes(sql, dialect);
  await db.schema
    .createTable('tollhouse_owed')
    .addColumn('payment_id', text, (it) => it.notNull())
    .addColumn('recipient', text, (it) => it.notNull())
    .addColumn('project_id', text, (it) => it.notNull())
    .addColumn('owner', text, (it) => it.notNull())
    .addColumn('network', text, (it) => it.notNull())
    .addColumn('wallet', text, (it) => it.notNull())
    .addColumn('mint', text, (it) => it.notNull())
    .addColumn('amount', 'bigint', (it) => it.notNull())
    .addColumn('at', 'bigint', (it) => it.notNull())
    .addColumn('payout_id', text)
    .addColumn('held', text)
    .addColumn('held_until', 'bigint', (it) => it.notNull().defaultTo(0))
    .addPrimaryKeyConstraint('tollhouse_owed_key', ['payment_id', 'recipient'])
    .execute();
  await sql`create index tollhouse_owed_unpaid on tollhouse_owed (project_id, mint) where payout_id is null`.execute(
    db,
  );
  await sql`create index tollhouse_owed_payout on tollhouse_owed (payout_id) where payout_id is not null`.execute(db);
}

async function addPayout(db: Kysely<unknown>, sql: typeof Sql, dialect: Dialect): Promise<void> {
  const { text } = columnTypes(sql, dialect);
  await db.schema
    .createTable('tollhouse_payout')
    .addColumn('id', text, (it) => it.primaryKey())
    .addColumn('project_id', text, (it) => it.notNull())
    .addColumn('owner', text, (it) => it.notNull())
    .addColumn('network', text, (it) => it.notNull())
    .addColumn('wallet', text, (it) => it.notNull())
    .addColumn('mint', text, (it) => it.notNull())
    .addColumn('state', text, (it) => it.notNull())
    .addColumn('legs', text, (it) => it.notNull())
    .addColumn('total', text, (it) => it.notNull())
    .addColumn('signature', text)
    .addColumn('signed', text)
    .addColumn('blockhash', text)
    .addColumn('last_valid_block_height', 'bigint')
    .addColumn('signed_at', 'bigint')
    .addColumn('slot', 'bigint')
    .addColumn('reason', text)
    .addColumn('created_at', 'bigint', (it) => it.notNull())
    .addColumn('updated_at', 'bigint', (it) => it.notNull())
    .addColumn('lease', text)
    .addColumn('lease_ends', 'bigint', (it) => it.notNull().defaultTo(0))
    .execute();
  await sql`create index tollhouse_payout_project on tollhouse_payout (project_id, created_at, id)`.execute(db);
  await sql`create index tollhouse_payout_open on tollhouse_payout (lease_ends) where state in ('planned', 'created', 'broadcast')`.execute(
    db,
  );
}
