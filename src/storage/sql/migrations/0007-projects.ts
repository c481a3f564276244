import type { Migration, sql as Sql } from 'kysely';
import type { Dialect } from '../sql-database.js';
import { columnTypes } from './column-types.js';

/**
 * Projects. `details` holds as JSON what is never searched; `search` the words of the marketplace, `price_key` the price as
 * text in the order of its value. Amounts as in `0001-payments`.
 */
export function projects(sql: typeof Sql, dialect: Dialect): Migration {
  const { text } = columnTypes(sql, dialect);
  return {
    async up(db) {
      await db.schema
        .createTable('tollhouse_project')
        .addColumn('id', text, (it) => it.primaryKey())
        .addColumn('owner', text, (it) => it.notNull())
        .addColumn('slug', text, (it) => it.notNull())
        .addColumn('state', text, (it) => it.notNull())
        .addColumn('visibility', text, (it) => it.notNull())
        .addColumn('version', 'integer', (it) => it.notNull())
        .addColumn('amount', 'bigint', (it) => it.notNull())
        .addColumn('mint', text, (it) => it.notNull())
        .addColumn('symbol', text, (it) => it.notNull())
        .addColumn('price_key', text, (it) => it.notNull())
        .addColumn('tags', text, (it) => it.notNull())
        .addColumn('search', text, (it) => it.notNull())
        .addColumn('details', text, (it) => it.notNull())
        .addColumn('openapi', text)
        .addColumn('secret', text, (it) => it.notNull())
        .addColumn('previous_secret', text)
        .addColumn('previous_secret_until', 'bigint')
        .addColumn('created_at', 'bigint', (it) => it.notNull())
        .addColumn('updated_at', 'bigint', (it) => it.notNull())
        .execute();
      const index = (name: string, columns: string, where = '') =>
        sql.raw(`create ${name} on tollhouse_project (${columns})${where}`).execute(db);
      const isListed = ` where state = 'active' and visibility = 'listed'`;
      await index('unique index tollhouse_project_slug', 'slug', ` where state <> 'deleted'`);
      await index('index tollhouse_project_slug_owner', 'slug, owner');
      await index('index tollhouse_project_owner', 'owner, created_at, id');
      await index('index tollhouse_project_new', 'created_at, id', isListed);
      await index('index tollhouse_project_price', 'price_key, id', isListed);
    },
  };
}
