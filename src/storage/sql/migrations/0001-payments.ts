import type { Migration, sql as Sql } from 'kysely';
import type { Dialect } from '../sql-database.js';

/**
 * Payments and payment requests. Amounts are 64-bit integers: the unsigned ones of the chain in two's complement, so that
 * only an amount above 2^63 - 1 looks negative in SQL (`payment-rows.ts`). Times are milliseconds since the epoch.
 */
export function payments(sql: typeof Sql, dialect: Dialect): Migration {
  // Bytes are compared, not letters of a language: faster, and the same in both databases.
  const text = dialect === 'postgres' ? sql`text collate "C"` : sql`text`;
  return {
    async up(db) {
      await db.schema
        .createTable('tollhouse_payment')
        .addColumn('id', text, (it) => it.primaryKey())
        .addColumn('state', text, (it) => it.notNull())
        .addColumn('binding', text, (it) => it.notNull())
        .addColumn('payer', text, (it) => it.notNull())
        .addColumn('network', text, (it) => it.notNull())
        .addColumn('asset', text, (it) => it.notNull())
        .addColumn('amount', 'bigint', (it) => it.notNull())
        .addColumn('pay_to', text, (it) => it.notNull())
        .addColumn('terms', text, (it) => it.notNull())
        .addColumn('signature', text)
        .addColumn('blockhash', text, (it) => it.notNull())
        .addColumn('last_valid_block_height', 'bigint')
        .addColumn('slot', 'bigint')
        .addColumn('reason', text)
        .addColumn('claimed_at', 'bigint', (it) => it.notNull())
        .addColumn('finished_at', 'bigint')
        .addColumn('lease', text)
        .addColumn('lease_ends', 'bigint', (it) => it.notNull())
        .execute();
      await db.schema
        .createTable('tollhouse_payment_request')
        .addColumn('id', text, (it) => it.primaryKey())
        .addColumn('network', text, (it) => it.notNull())
        .addColumn('amount', 'bigint', (it) => it.notNull())
        .addColumn('pay_to', text, (it) => it.notNull())
        .addColumn('details', text, (it) => it.notNull())
        .addColumn('created_at', 'bigint', (it) => it.notNull())
        .addColumn('expires_at', 'bigint', (it) => it.notNull())
        .addColumn('attempt', text)
        .execute();
      await sql`create index tollhouse_payment_unfinished on tollhouse_payment (state, lease_ends) where finished_at is null`.execute(
        db,
      );
      await sql`create index tollhouse_payment_finished on tollhouse_payment (state, finished_at) where finished_at is not null`.execute(
        db,
      );
      await sql`create index tollhouse_payment_time on tollhouse_payment (claimed_at, id)`.execute(db);
      await sql`create index tollhouse_request_expiry on tollhouse_payment_request (expires_at)`.execute(db);
      await sql`create index tollhouse_request_attempt on tollhouse_payment_request (attempt) where attempt is not null`.execute(
        db,
      );
    },
  };
}
