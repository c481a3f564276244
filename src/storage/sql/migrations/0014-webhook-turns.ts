import type { Dialect } from '../sql-database.js';
import { columnTypes } from './schema-step.js';

/**
 * To which host a webhook goes; and of a delivery that is under way, to whose webhook and to which host: so many are under way
 * for an owner, and to an address of his, whichever process has them.
 */
export function webhookTurns(dialect: Dialect): readonly string[] {
  const { text } = columnTypes(dialect);
  return [
    `alter table "tollhouse_webhook" add column "address" ${text}`,
    `update tollhouse_webhook set address = ${dialect === 'postgres' ? POSTGRES_HOST : SQLITE_HOST}`,
    `alter table "tollhouse_delivery" add column "owner" ${text}`,
    `alter table "tollhouse_delivery" add column "address" ${text}`,
    'create index tollhouse_delivery_under_way on tollhouse_delivery (owner, address, next_at) where lease is not null',
    'drop index tollhouse_delivery_held',
  ];
}

const POSTGRES_HOST = `split_part(split_part(url, '://', 2), '/', 1)`;
const REST = `substr(url, instr(url, '://') + 3)`;
const SQLITE_HOST = `substr(${REST}, 1, instr(${REST} || '/', '/') - 1)`;
