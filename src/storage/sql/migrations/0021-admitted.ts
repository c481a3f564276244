import type { Dialect } from '../sql-database.js';
import { columnTypes } from './schema-step.js';

/** Whom the gates before a payment's let in with it. */
export function admitted(dialect: Dialect): readonly string[] {
  return [`alter table "tollhouse_payment" add column "admitted" ${columnTypes(dialect).text}`];
}
