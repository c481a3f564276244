import type { Dialect } from '../sql-database.js';
import { columnTypes, createTable } from './schema-step.js';

/** With which keys responses were sealed, by their ids, and until when the last of them is kept. */
export function responseKeys(dialect: Dialect): readonly string[] {
  const { text } = columnTypes(dialect);
  return [createTable('tollhouse_response_key', { id: `${text} not null primary key`, kept_until: 'bigint not null' })];
}
