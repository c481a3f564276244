import type { Dialect } from '../sql-database.js';
import { columnTypes, createTable } from './schema-step.js';

/** Passes that can be renewed: how long one is still good behind its end, and the times that payments have bought for it. */
export function renewals(dialect: Dialect): readonly string[] {
  const { text } = columnTypes(dialect);
  return [
    'alter table "tollhouse_pass" add column "grace_ms" bigint',
    createTable('tollhouse_pass_period', {
      payment_id: `${text} primary key`,
      pass_id: `${text} not null`,
      lasts_ms: 'bigint not null',
      grace_ms: 'bigint not null',
      at: 'bigint not null',
    }),
    'create index tollhouse_pass_period_pass on tollhouse_pass_period (pass_id)',
    'create index tollhouse_pass_period_at on tollhouse_pass_period (at)',
  ];
}
