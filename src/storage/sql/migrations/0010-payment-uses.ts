import type { Dialect } from '../sql-database.js';
import { columnTypes } from './schema-step.js';

/** Which request a payment was brought with, who may come again for it, and how often its handler was run again. */
export function paymentUses(dialect: Dialect): readonly string[] {
  const { text } = columnTypes(dialect);
  return [
    `alter table "tollhouse_payment" add column "fingerprint" ${text}`,
    `alter table "tollhouse_payment" add column "retry_hash" ${text}`,
    'alter table "tollhouse_payment" add column "reruns" integer',
  ];
}
