import type { Dialect } from '../sql-database.js';
import { columnTypes, createTable } from './schema-step.js';

/**
 * Projects. `details` holds as JSON what is never searched; `search` the words of the marketplace, `price_key` the price as
 * text in the order of its value. Amounts as in `0001-payments`.
 */
export function projects(dialect: Dialect): readonly string[] {
  const { text } = columnTypes(dialect);
  return [
    createTable('tollhouse_project', {
      id: `${text} primary key`,
      owner: `${text} not null`,
      slug: `${text} not null`,
      state: `${text} not null`,
      visibility: `${text} not null`,
      version: 'integer not null',
      amount: 'bigint not null',
      mint: `${text} not null`,
      symbol: `${text} not null`,
      price_key: `${text} not null`,
      tags: `${text} not null`,
      search: `${text} not null`,
      details: `${text} not null`,
      openapi: text,
      secret: `${text} not null`,
      previous_secret: text,
      previous_secret_until: 'bigint',
      created_at: 'bigint not null',
      updated_at: 'bigint not null',
    }),
    `create unique index tollhouse_project_slug on tollhouse_project (slug) where state <> 'deleted'`,
    'create index tollhouse_project_slug_owner on tollhouse_project (slug, owner)',
    'create index tollhouse_project_owner on tollhouse_project (owner, created_at, id)',
    `create index tollhouse_project_new on tollhouse_project (created_at, id) where state = 'active' and visibility = 'listed'`,
    `create index tollhouse_project_price on tollhouse_project (price_key, id) where state = 'active' and visibility = 'listed'`,
  ];
}
