import type { Migration, sql as Sql } from 'kysely';
import type { Dialect } from '../sql-database.js';
import { columnTypes } from './column-types.js';

/** Answers that can be asked for again. `answer` is missing while a run is under way; times are milliseconds since the epoch. */
export function answers(sql: typeof Sql, dialect: Dialect): Migration {
  const { text, bytes } = columnTypes(sql, dialect);
  return {
    async up(db) {
      await db.schema
        .createTable('tollhouse_answer')
        .addColumn('id', text, (it) => it.primaryKey().notNull())
        .addColumn('fingerprint', text, (it) => it.notNull())
        .addColumn('lease', text, (it) => it.notNull())
        .addColumn('lease_ends', 'bigint', (it) => it.notNull())
        .addColumn('expires_at', 'bigint', (it) => it.notNull())
        .addColumn('size', 'bigint', (it) => it.notNull())
        .addColumn('answer', bytes)
        .execute();
      // Pruning reads nothing but this index: the oldest, and how many bytes there are.
      await db.schema
        .createIndex('tollhouse_answer_expiry')
        .on('tollhouse_answer')
        .columns(['expires_at', 'id', 'size'])
        .execute();
    },
  };
}
