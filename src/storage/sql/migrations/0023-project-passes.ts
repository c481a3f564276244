import type { Dialect } from '../sql-database.js';
import { columnTypes } from './schema-step.js';

/** The passes that cover calls of projects, or were bought with them, and the payments that have bought them. */
export function projectPasses(dialect: Dialect): readonly string[] {
  const { text } = columnTypes(dialect);
  return [
    `alter table "tollhouse_call" add column "pass_id" ${text}`,
    'alter table "tollhouse_call" add column "pass_uses" integer',
    'create index tollhouse_payment_pass_sale on tollhouse_payment (project_id) where buys is not null',
  ];
}
