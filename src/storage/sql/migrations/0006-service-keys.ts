import type { Migration, sql as Sql } from 'kysely';
import type { Dialect } from '../sql-database.js';
import { columnTypes } from './column-types.js';

/** Service keys; of their secrets only hashes. Lists are JSON. */
export function serviceKeys(sql: typeof Sql, dialect: Dialect): Migration {
  const { text } = columnTypes(sql, dialect);
  return {
    async up(db) {
      await db.schema
        .createTable('tollhouse_service_key')
        .addColumn('id', text, (it) => it.primaryKey())
        .addColumn('public_key', text, (it) => it.notNull().unique())
        .addColumn('secret_hash', text, (it) => it.notNull())
        .addColumn('previous_hash', text)
        .addColumn('previous_until', 'bigint')
        .addColumn('owner', text, (it) => it.notNull())
        .addColumn('project_id', text)
        .addColumn('name', text, (it) => it.notNull())
        .addColumn('scopes', text, (it) => it.notNull())
        .addColumn('mode', text, (it) => it.notNull())
        .addColumn('expires_at', 'bigint')
        .addColumn('spending_limit', 'bigint')
        .addColumn('spending_asset', text)
        .addColumn('spending_token', text)
        .addColumn('spending_decimals', 'integer')
        .addColumn('spending_window', text)
        .addColumn('spending_action', text)
        .addColumn('allowed_ips', text, (it) => it.notNull())
        .addColumn('per_second', 'integer')
        .addColumn('metadata', text, (it) => it.notNull())
        .addColumn('created_at', 'bigint', (it) => it.notNull())
        .addColumn('revoked_at', 'bigint')
        .addColumn('last_used_at', 'bigint')
        .execute();
      await sql`create index tollhouse_service_key_owner on tollhouse_service_key (owner, created_at, id)`.execute(db);
    },
  };
}
