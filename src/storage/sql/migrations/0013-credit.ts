import type { Dialect } from '../sql-database.js';
import { columnTypes, createTable } from './schema-step.js';

/**
 * What keys have paid projects for nothing yet, what of it calls under way hold, and what each call gave or took: more than
 * nothing was given, less was taken.
 */
export function credit(dialect: Dialect): readonly string[] {
  const { text } = columnTypes(dialect);
  return [
    createTable(
      'tollhouse_credit',
      {
        key_id: `${text} not null`,
        project_id: `${text} not null`,
        mint: `${text} not null`,
        owner: `${text} not null`,
        amount: 'bigint not null',
      },
      { constraint: '"tollhouse_credit_key" primary key ("key_id", "project_id", "mint")' },
    ),
    'create index tollhouse_credit_owner on tollhouse_credit (owner)',
    'create index tollhouse_credit_project on tollhouse_credit (project_id)',
    createTable('tollhouse_credit_hold', {
      id: `${text} primary key`,
      key_id: `${text} not null`,
      project_id: `${text} not null`,
      mint: `${text} not null`,
      amount: 'bigint not null',
      ends_at: 'bigint not null',
    }),
    'create index tollhouse_credit_hold_key on tollhouse_credit_hold (key_id, project_id)',
    'create index tollhouse_credit_hold_end on tollhouse_credit_hold (ends_at)',
    `alter table "tollhouse_call" add column "credit_mint" ${text}`,
    'alter table "tollhouse_call" add column "credit_amount" bigint',
  ];
}
