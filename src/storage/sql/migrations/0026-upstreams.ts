import type { Dialect } from '../sql-database.js';
import { columnTypes, createTable } from './schema-step.js';

/** Which keys the secrets of upstreams are encrypted with, and how the upstreams are that are looked at. */
export function upstreams(dialect: Dialect): readonly string[] {
  const { text } = columnTypes(dialect);
  return [
    `alter table "tollhouse_project" add column "secrets_keys" ${text}`,
    'create index tollhouse_project_secrets on tollhouse_project (secrets_keys) where secrets_keys is not null',
    createTable('tollhouse_upstream_health', {
      project_id: `${text} primary key`,
      failures: 'integer not null',
      successes: 'integer not null',
      checked_at: 'bigint',
      down_since: 'bigint',
      due_at: 'bigint not null',
    }),
    'create index tollhouse_upstream_due on tollhouse_upstream_health (due_at)',
  ];
}
