import type { Dialect } from '../sql-database.js';
import { columnTypes, createTable } from './schema-step.js';

/** What requests leave that have failed once they were paid: credit for their price, and refunds of it on the chain. */
export function compensation(dialect: Dialect): readonly string[] {
  return [...priceCredit(), ...refunds(dialect)];
}

/**
 * Looks up who has credit for the price of a route. And what the paid request has of a pass of uses is a debit like others, which can
 * be given back.
 */
function priceCredit(): readonly string[] {
  return [
    `create index tollhouse_pass_price on tollhouse_pass (scope) where over_at is null and scope like 'price of %'`,
    `insert into tollhouse_pass_debit (pass_id, request, amount, at)
      select id, payment_id, 1, opened_at from tollhouse_pass where kind = 'uses' on conflict do nothing`,
  ];
}

/** One row of the second table is changed by whoever begins a refund, so that one after the other looks at the bounds. */
function refunds(dialect: Dialect): readonly string[] {
  const { text } = columnTypes(dialect);
  return [
    createTable('tollhouse_refund', {
      id: `${text} primary key`,
      payment_id: `${text} not null`,
      pass_id: `${text} not null`,
      network: `${text} not null`,
      wallet: `${text} not null`,
      recipient: `${text} not null`,
      owner: `${text} not null`,
      project_id: text,
      mint: `${text} not null`,
      amount: 'bigint not null',
      taken: 'bigint not null',
      state: `${text} not null`,
      signature: text,
      signed: text,
      blockhash: text,
      last_valid_block_height: 'bigint',
      signed_slot: 'bigint',
      slot: 'bigint',
      reason: text,
      created_at: 'bigint not null',
      updated_at: 'bigint not null',
      lease: text,
      lease_ends: 'bigint not null',
    }),
    `create unique index tollhouse_refund_one on tollhouse_refund (payment_id) where state in ('planned', 'taken', 'broadcast')`,
    'create index tollhouse_refund_payment on tollhouse_refund (payment_id, created_at)',
    'create index tollhouse_refund_time on tollhouse_refund (network, mint, created_at)',
    createTable('tollhouse_refund_turn', { id: `${text} primary key` }),
    `insert into tollhouse_refund_turn (id) values ('turn')`,
  ];
}
