import type { Dialect } from '../sql-database.js';
import { columnTypes, createTable } from './schema-step.js';

/**
 * What payments buy for more than one request, written down with their claims, and what they have bought, what requests have taken of it, and the secret of its tokens. `over_at`
 * is when a pass became good for nothing, or will by itself; it stays the same from debit to debit, and so do all indexes.
 */
export function passes(dialect: Dialect): readonly string[] {
  const { text, bytes } = columnTypes(dialect);
  return [
    createTable('tollhouse_pass', {
      id: `${text} primary key`,
      payment_id: `${text} not null unique`,
      wallet: `${text} not null`,
      site: `${text} not null`,
      scope: `${text} not null`,
      kind: `${text} not null`,
      mint: text,
      bought: 'bigint',
      remaining: 'bigint',
      serial: 'integer not null',
      opened_at: 'bigint not null',
      ends_at: 'bigint',
      revoked_at: 'bigint',
      over_at: 'bigint',
    }),
    'create index tollhouse_pass_wallet on tollhouse_pass (wallet, opened_at)',
    'create index tollhouse_pass_scope on tollhouse_pass (wallet, scope, site)',
    'create index tollhouse_pass_over on tollhouse_pass (over_at)',
    createTable(
      'tollhouse_pass_debit',
      {
        pass_id: `${text} not null`,
        request: `${text} not null`,
        amount: 'bigint not null',
        at: 'bigint not null',
      },
      { constraint: '"tollhouse_pass_debit_pk" primary key ("pass_id", "request")' },
    ),
    'create index tollhouse_pass_debit_at on tollhouse_pass_debit (at)',
    `alter table "tollhouse_payment" add column "buys" ${text}`,
    createTable('tollhouse_pass_secret', { name: `${text} primary key`, secret: `${bytes} not null` }),
  ];
}
