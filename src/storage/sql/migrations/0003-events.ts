import type { Dialect } from '../sql-database.js';
import { columnTypes, createTable } from './schema-step.js';

/**
 * Events; to whom a payment belongs; and who gets which part of it, until that is in the book of what is owed (`accrued`). An
 * event is written with what it tells; a worker makes its deliveries afterwards (`fanned_out`). Readers go by `(tx, seq)`: in
 * Postgres a number that was drawn earlier may be committed later, so that only events of transactions older than every
 * running one are shown.
 */
export function events(dialect: Dialect): readonly string[] {
  const { text, serial } = columnTypes(dialect);
  const transaction = dialect === 'postgres' ? '(pg_current_xact_id()::text::bigint)' : '0';
  return [
    `alter table "tollhouse_payment" add column "owner" ${text}`,
    `alter table "tollhouse_payment" add column "project_id" ${text}`,
    `alter table "tollhouse_payment" add column "owed" ${text}`,
    'alter table "tollhouse_payment" add column "accrued" integer default 0 not null',
    'create index tollhouse_payment_owed on tollhouse_payment (id) where owed is not null and accrued = 0',
    `alter table "tollhouse_payment_request" add column "reference" ${text}`,
    'create index tollhouse_request_reference on tollhouse_payment_request (reference)',
    createTable('tollhouse_event', {
      seq: `${serial} primary key`,
      tx: `bigint default ${transaction} not null`,
      id: `${text} not null unique`,
      type: `${text} not null`,
      at: 'bigint not null',
      owner: `${text} not null`,
      project_id: text,
      data: `${text} not null`,
      fanned_out: 'integer default 0 not null',
    }),
    'create index tollhouse_event_owner on tollhouse_event (owner, tx, seq)',
    'create index tollhouse_event_order on tollhouse_event (tx, seq)',
    'create index tollhouse_event_outbox on tollhouse_event (seq) where fanned_out = 0',
    'create index tollhouse_event_at on tollhouse_event (at)',
  ];
}
