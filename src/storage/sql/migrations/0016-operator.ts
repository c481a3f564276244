import type { Dialect } from '../sql-database.js';
import { columnTypes, createTable } from './schema-step.js';

/** Wallets that own something, and what they may own; what operators have suspended; who has changed what. */
export function operator(dialect: Dialect): readonly string[] {
  const { text, serial } = columnTypes(dialect);
  const owned = ['tollhouse_project', 'tollhouse_service_key', 'tollhouse_webhook'];
  return [
    createTable('tollhouse_owner', {
      wallet: `${text} primary key`,
      since: 'bigint not null',
      quota_projects: 'integer',
      quota_keys: 'integer',
      quota_webhooks: 'integer',
      quota_project_bytes: 'integer',
    }),
    'create index tollhouse_owner_since on tollhouse_owner (since, wallet)',
    `insert into tollhouse_owner (wallet, since)
      select owner, min(created_at) from (${owned.map((it) => `select owner, created_at from ${it}`).join(' union all ')}) as owned
      group by owner`,
    createTable(
      'tollhouse_suspension',
      {
        kind: `${text} not null`,
        target: `${text} not null`,
        at: 'bigint not null',
        operator: `${text} not null`,
        reason: text,
      },
      { constraint: 'tollhouse_suspension_pk primary key (kind, target)' },
    ),
    createTable('tollhouse_audit', {
      seq: `${serial} primary key`,
      id: `${text} not null unique`,
      at: 'bigint not null',
      actor: `${text} not null`,
      key_id: text,
      address: text,
      request_id: text,
      action: `${text} not null`,
      target: `${text} not null`,
      owner: `${text} not null`,
      details: `${text} not null`,
    }),
    'create index tollhouse_audit_at on tollhouse_audit (at)',
    'create index tollhouse_audit_owner on tollhouse_audit (owner, seq)',
    'create index tollhouse_audit_actor on tollhouse_audit (actor, seq)',
    'create index tollhouse_audit_target on tollhouse_audit (target, seq)',
  ];
}
