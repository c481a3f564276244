import type { Dialect } from '../sql-database.js';
import { columnTypes, createTable } from './schema-step.js';

/** Moments of these books as a whole: when a backup was made, and when one was restored. */
export function moments(dialect: Dialect): readonly string[] {
  const { text } = columnTypes(dialect);
  return [createTable('tollhouse_moment', { name: `${text} not null primary key`, at: 'bigint not null' })];
}
