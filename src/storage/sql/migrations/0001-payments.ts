import type { Dialect } from '../sql-database.js';
import { columnTypes, createTable } from './schema-step.js';

/**
 * Payments and payment requests. Amounts are 64-bit integers: the unsigned ones of the chain in two's complement, so that
 * only an amount above 2^63 - 1 looks negative in SQL (`payment-rows.ts`). Times are milliseconds since the epoch.
 */
export function payments(dialect: Dialect): readonly string[] {
  const { text } = columnTypes(dialect);
  return [
    createTable('tollhouse_payment', {
      id: `${text} primary key`,
      state: `${text} not null`,
      binding: `${text} not null`,
      payer: `${text} not null`,
      network: `${text} not null`,
      asset: `${text} not null`,
      amount: 'bigint not null',
      pay_to: `${text} not null`,
      terms: `${text} not null`,
      signature: text,
      blockhash: `${text} not null`,
      last_valid_block_height: 'bigint',
      slot: 'bigint',
      reason: text,
      claimed_at: 'bigint not null',
      finished_at: 'bigint',
      lease: text,
      lease_ends: 'bigint not null',
    }),
    createTable('tollhouse_payment_request', {
      id: `${text} primary key`,
      network: `${text} not null`,
      amount: 'bigint not null',
      pay_to: `${text} not null`,
      details: `${text} not null`,
      created_at: 'bigint not null',
      expires_at: 'bigint not null',
      attempt: text,
    }),
    'create index tollhouse_payment_unfinished on tollhouse_payment (state, lease_ends) where finished_at is null',
    'create index tollhouse_payment_finished on tollhouse_payment (state, finished_at) where finished_at is not null',
    'create index tollhouse_payment_time on tollhouse_payment (claimed_at, id)',
    'create index tollhouse_request_expiry on tollhouse_payment_request (expires_at)',
    'create index tollhouse_request_attempt on tollhouse_payment_request (attempt) where attempt is not null',
  ];
}
