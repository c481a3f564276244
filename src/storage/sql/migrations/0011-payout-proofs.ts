import type { Migration, sql as Sql } from 'kysely';
import type { Dialect } from '../sql-database.js';
import { columnTypes } from './column-types.js';

/**
 * From which slot on a payout may have landed, who got how much of a payment that went to several recipients in one
 * transaction, and payouts in the order of time.
 */
export function payoutProofs(sql: typeof Sql, dialect: Dialect): Migration {
  const { text } = columnTypes(sql, dialect);
  return {
    async up(db) {
      await db.schema.alterTable('tollhouse_payout').addColumn('signed_slot', 'bigint').execute();
      await db.schema.alterTable('tollhouse_payment').addColumn('legs', text).execute();
      await db.schema
        .createIndex('tollhouse_payout_time')
        .on('tollhouse_payout')
        .columns(['created_at', 'id'])
        .execute();
    },
  };
}
