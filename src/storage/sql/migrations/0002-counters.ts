import type { Dialect } from '../sql-database.js';
import { columnTypes, createTable } from './schema-step.js';

/**
 * Marks, values and counts. Keys and values are bytes, so that every text is kept, also what a database's text cannot
 * hold. Counts may be forgotten early: in Postgres their table is not logged, which spares the disk a write for each.
 */
export function counters(dialect: Dialect): readonly string[] {
  const { bytes } = columnTypes(dialect);
  const counts = dialect === 'postgres' ? 'unlogged table' : 'table';
  return [
    createTable('tollhouse_mark', {
      key: `${bytes} not null primary key`,
      expires_at: 'bigint not null',
    }),
    createTable('tollhouse_value', {
      key: `${bytes} not null primary key`,
      expires_at: 'bigint not null',
      value: `${bytes} not null`,
    }),
    createTable(
      'tollhouse_count',
      {
        key: `${bytes} not null primary key`,
        expires_at: 'bigint not null',
        count: 'bigint not null',
      },
      { kind: counts },
    ),
    'create index "tollhouse_mark_expiry" on "tollhouse_mark" ("expires_at")',
    'create index "tollhouse_value_expiry" on "tollhouse_value" ("expires_at")',
    'create index "tollhouse_count_expiry" on "tollhouse_count" ("expires_at")',
  ];
}
