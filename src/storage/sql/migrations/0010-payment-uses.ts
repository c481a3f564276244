import type { Migration, sql as Sql } from 'kysely';
import type { Dialect } from '../sql-database.js';
import { columnTypes } from './column-types.js';

/** Which request a payment was brought with, who may come again for it, and how often its handler was run again. */
export function paymentUses(sql: typeof Sql, dialect: Dialect): Migration {
  const { text } = columnTypes(sql, dialect);
  return {
    async up(db) {
      await db.schema.alterTable('tollhouse_payment').addColumn('fingerprint', text).execute();
      await db.schema.alterTable('tollhouse_payment').addColumn('retry_hash', text).execute();
      await db.schema.alterTable('tollhouse_payment').addColumn('reruns', 'integer').execute();
    },
  };
}
