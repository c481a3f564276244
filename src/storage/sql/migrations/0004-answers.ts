import type { Dialect } from '../sql-database.js';
import { columnTypes, createTable } from './schema-step.js';

/** Answers that can be asked for again. `answer` is missing while a run is under way; times are milliseconds since the epoch. */
export function answers(dialect: Dialect): readonly string[] {
  const { text, bytes } = columnTypes(dialect);
  return [
    createTable('tollhouse_answer', {
      id: `${text} not null primary key`,
      fingerprint: `${text} not null`,
      lease: `${text} not null`,
      lease_ends: 'bigint not null',
      expires_at: 'bigint not null',
      size: 'bigint not null',
      answer: bytes,
    }),
    'create index "tollhouse_answer_expiry" on "tollhouse_answer" ("expires_at", "id", "size")',
  ];
}
