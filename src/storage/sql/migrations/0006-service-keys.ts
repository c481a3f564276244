import type { Dialect } from '../sql-database.js';
import { columnTypes, createTable } from './schema-step.js';

/** Service keys; of their secrets only hashes. Lists are JSON. */
export function serviceKeys(dialect: Dialect): readonly string[] {
  const { text } = columnTypes(dialect);
  return [
    createTable('tollhouse_service_key', {
      id: `${text} primary key`,
      public_key: `${text} not null unique`,
      secret_hash: `${text} not null`,
      previous_hash: text,
      previous_until: 'bigint',
      owner: `${text} not null`,
      project_id: text,
      name: `${text} not null`,
      scopes: `${text} not null`,
      mode: `${text} not null`,
      expires_at: 'bigint',
      spending_limit: 'bigint',
      spending_asset: text,
      spending_token: text,
      spending_decimals: 'integer',
      spending_window: text,
      spending_action: text,
      allowed_ips: `${text} not null`,
      per_second: 'integer',
      metadata: `${text} not null`,
      created_at: 'bigint not null',
      revoked_at: 'bigint',
      last_used_at: 'bigint',
    }),
    'create index tollhouse_service_key_owner on tollhouse_service_key (owner, created_at, id)',
  ];
}
