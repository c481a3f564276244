import type { Dialect } from '../sql-database.js';
import { columnTypes, createTable } from './schema-step.js';

/** Since when wallets have been seen holding what a gate asks for. */
export function heldTimes(dialect: Dialect): readonly string[] {
  const { text } = columnTypes(dialect);
  const columns = {
    rule: `${text} not null`,
    wallet: `${text} not null`,
    since: 'bigint not null',
    seen_at: 'bigint not null',
    looked_at: 'bigint not null',
  };
  return [
    createTable('tollhouse_held', columns, { constraint: 'tollhouse_held_pk primary key (rule, wallet)' }),
    'create index tollhouse_held_looked on tollhouse_held (rule, looked_at)',
    'create index tollhouse_held_seen on tollhouse_held (seen_at)',
  ];
}
