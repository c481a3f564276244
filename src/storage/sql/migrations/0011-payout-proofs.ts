import type { Dialect } from '../sql-database.js';
import { columnTypes } from './schema-step.js';

/**
 * From which slot on a payout may have landed, who got how much of a payment that went to several recipients in one
 * transaction, and payouts in the order of time.
 */
export function payoutProofs(dialect: Dialect): readonly string[] {
  const { text } = columnTypes(dialect);
  return [
    'alter table "tollhouse_payout" add column "signed_slot" bigint',
    `alter table "tollhouse_payment" add column "legs" ${text}`,
    'create index "tollhouse_payout_time" on "tollhouse_payout" ("created_at", "id")',
  ];
}
