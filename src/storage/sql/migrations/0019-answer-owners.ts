import type { Dialect } from '../sql-database.js';
import { columnTypes } from './schema-step.js';

/** Whose an answer is, so that who keeps most of them loses the oldest of those. What was kept before has one owner. */
export function answerOwners(dialect: Dialect): readonly string[] {
  const { text } = columnTypes(dialect);
  return [
    `alter table "tollhouse_answer" add column "owner" ${text} not null default ''`,
    'create index "tollhouse_answer_owner" on "tollhouse_answer" ("owner", "expires_at", "id", "size")',
  ];
}
