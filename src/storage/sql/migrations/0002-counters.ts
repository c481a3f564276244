import type { CreateTableBuilder, Migration, sql as Sql } from 'kysely';
import type { Dialect } from '../sql-database.js';

/**
 * Marks, values and counts. Keys and values are bytes, so that every text is kept, also what a database's text cannot
 * hold. Counts may be forgotten early: in Postgres their table is not logged, which spares the disk a write for each.
 */
export function counters(sql: typeof Sql, dialect: Dialect): Migration {
  const bytes = dialect === 'postgres' ? sql`bytea` : sql`blob`;
  const keyed = <T extends string, C extends string>(table: CreateTableBuilder<T, C>) =>
    table
      .addColumn('key', bytes, (it) => it.primaryKey().notNull())
      .addColumn('expires_at', 'bigint', (it) => it.notNull());
  return {
    async up(db) {
      await keyed(db.schema.createTable('tollhouse_mark')).execute();
      await keyed(db.schema.createTable('tollhouse_value'))
        .addColumn('value', bytes, (it) => it.notNull())
        .execute();
      const counts = keyed(db.schema.createTable('tollhouse_count')).addColumn('count', 'bigint', (it) => it.notNull());
      await (dialect === 'postgres' ? counts.modifyFront(sql`unlogged`) : counts).execute();
      for (const kind of ['mark', 'value', 'count']) {
        await db.schema.createIndex(`tollhouse_${kind}_expiry`).on(`tollhouse_${kind}`).column('expires_at').execute();
      }
    },
  };
}
