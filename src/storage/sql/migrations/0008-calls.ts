import type { Dialect } from '../sql-database.js';
import { columnTypes, createTable } from './schema-step.js';

/**
 * Calls, their sums by hour, what keys have spent, and what is held back for calls under way. Sums are never negative and
 * stop at 2^63 - 1. Rows of `tollhouse_spend` without a project are a key's whole spending, which its budgets look at.
 */
export function calls(dialect: Dialect): readonly string[] {
  return [...call(dialect), ...rollup(dialect), ...spend(dialect), ...reservation(dialect)];
}

function call(dialect: Dialect): readonly string[] {
  const { text, serial } = columnTypes(dialect);
  return [
    createTable('tollhouse_call', {
      seq: `${serial} primary key`,
      id: `${text} not null`,
      project_id: `${text} not null`,
      key_id: text,
      payer: text,
      at: 'bigint not null',
      method: `${text} not null`,
      status: 'integer',
      outcome: `${text} not null`,
      reason: text,
      mint: text,
      amount: 'bigint',
      payment_id: text,
      signature: text,
      duration_ms: 'bigint not null',
      request_id: `${text} not null`,
    }),
    'create index tollhouse_call_project on tollhouse_call (project_id, seq)',
  ];
}

function rollup(dialect: Dialect): readonly string[] {
  const { text } = columnTypes(dialect);
  return [
    createTable(
      'tollhouse_rollup',
      {
        project_id: `${text} not null`,
        kind: `${text} not null`,
        hour: 'bigint not null',
        label: `${text} not null`,
        value: 'bigint not null',
      },
      {
        constraint: '"tollhouse_rollup_key" primary key ("project_id", "kind", "hour", "label")',
        end: sumsEnd(dialect),
      },
    ),
    'create index tollhouse_rollup_hour on tollhouse_rollup (hour)',
  ];
}

function spend(dialect: Dialect): readonly string[] {
  const { text } = columnTypes(dialect);
  return [
    createTable(
      'tollhouse_spend',
      {
        key_id: `${text} not null`,
        mint: `${text} not null`,
        period: `${text} not null`,
        start: 'bigint not null',
        project_id: `${text} not null`,
        owner: `${text} not null`,
        amount: 'bigint not null',
        calls: 'bigint not null',
        told_percent: 'integer default 0 not null',
        told_limit: 'bigint default 0 not null',
      },
      {
        constraint: '"tollhouse_spend_key" primary key ("key_id", "period", "start", "mint", "project_id")',
        end: sumsEnd(dialect),
      },
    ),
    `create index tollhouse_spend_hour on tollhouse_spend (start) where period = 'hour'`,
    `create index tollhouse_spend_owner on tollhouse_spend (owner, start) where period = 'day' and project_id <> ''`,
  ];
}

function reservation(dialect: Dialect): readonly string[] {
  const { text } = columnTypes(dialect);
  return [
    createTable('tollhouse_reservation', {
      id: `${text} primary key`,
      key_id: `${text} not null`,
      mint: `${text} not null`,
      amount: 'bigint not null',
      hour: 'bigint not null',
      day: 'bigint not null',
      month: 'bigint not null',
      ends_at: 'bigint not null',
    }),
    'create index tollhouse_reservation_key on tollhouse_reservation (key_id, mint)',
  ];
}

/** What goes behind the definition of a table of sums. */
function sumsEnd(dialect: Dialect): string {
  // Kept in the order of the key in SQLite; in Postgres with room for the next version of a row that changes all the time.
  return dialect === 'postgres' ? 'with (fillfactor = 70)' : 'without rowid';
}
