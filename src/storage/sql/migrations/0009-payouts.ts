import type { Dialect } from '../sql-database.js';
import { columnTypes, createTable } from './schema-step.js';

/**
 * What is owed of payments that went to a split wallet, a row for each payment and recipient, and the payouts that pay it.
 * Totals of a payout are text: several amounts of 64 bits need more than 64.
 */
export function payouts(dialect: Dialect): readonly string[] {
  return [...owed(dialect), ...payout(dialect)];
}

function owed(dialect: Dialect): readonly string[] {
  const { text } = columnTypes(dialect);
  return [
    createTable(
      'tollhouse_owed',
      {
        payment_id: `${text} not null`,
        recipient: `${text} not null`,
        project_id: `${text} not null`,
        owner: `${text} not null`,
        network: `${text} not null`,
        wallet: `${text} not null`,
        mint: `${text} not null`,
        amount: 'bigint not null',
        at: 'bigint not null',
        payout_id: text,
        held: text,
        held_until: 'bigint default 0 not null',
      },
      { constraint: '"tollhouse_owed_key" primary key ("payment_id", "recipient")' },
    ),
    'create index tollhouse_owed_unpaid on tollhouse_owed (project_id, mint) where payout_id is null',
    'create index tollhouse_owed_payout on tollhouse_owed (payout_id) where payout_id is not null',
  ];
}

function payout(dialect: Dialect): readonly string[] {
  const { text } = columnTypes(dialect);
  return [
    createTable('tollhouse_payout', {
      id: `${text} primary key`,
      project_id: `${text} not null`,
      owner: `${text} not null`,
      network: `${text} not null`,
      wallet: `${text} not null`,
      mint: `${text} not null`,
      state: `${text} not null`,
      legs: `${text} not null`,
      total: `${text} not null`,
      signature: text,
      signed: text,
      blockhash: text,
      last_valid_block_height: 'bigint',
      signed_at: 'bigint',
      slot: 'bigint',
      reason: text,
      created_at: 'bigint not null',
      updated_at: 'bigint not null',
      lease: text,
      lease_ends: 'bigint default 0 not null',
    }),
    'create index tollhouse_payout_project on tollhouse_payout (project_id, created_at, id)',
    `create index tollhouse_payout_open on tollhouse_payout (lease_ends) where state in ('planned', 'created', 'broadcast')`,
  ];
}
