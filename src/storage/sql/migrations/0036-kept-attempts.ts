import type { Dialect } from '../sql-database.js';
import { columnTypes } from './schema-step.js';

/** Whose an attempt at a delivery is, and whether it has succeeded: so many of either are kept of a webhook. Those from before end with their delivery. */
export function keptAttempts(dialect: Dialect): readonly string[] {
  const { text } = columnTypes(dialect);
  return [
    `alter table "tollhouse_delivery_attempt" add column "webhook_id" ${text}`,
    'alter table "tollhouse_delivery_attempt" add column "delivered" integer',
    'create index "tollhouse_delivery_attempt_kept" on "tollhouse_delivery_attempt" ("webhook_id", "delivered", "at")',
  ];
}
