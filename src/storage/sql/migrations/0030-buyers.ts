import type { Dialect } from '../sql-database.js';
import { columnTypes } from './schema-step.js';

/**
 * What buyers see of their calls: whose each was, by which route it went, and how long its upstream took. Lists are in the order in
 * which calls came in. Service keys can be changed, and be good for some projects only.
 */
export function buyers(dialect: Dialect): readonly string[] {
  const { text } = columnTypes(dialect);
  return [
    `alter table "tollhouse_call" add column "buyer" ${text}`,
    `alter table "tollhouse_call" add column "route" ${text}`,
    'alter table "tollhouse_call" add column "upstream_ms" bigint',
    'alter table "tollhouse_call" add column "gateway_ms" bigint',
    `update tollhouse_call set buyer = coalesce(
      (select k.owner from tollhouse_service_key k where k.id = tollhouse_call.key_id), payer)`,
    'drop index tollhouse_call_project',
    'create index tollhouse_call_project on tollhouse_call (project_id, at, seq)',
    'create index tollhouse_call_buyer on tollhouse_call (buyer, at, seq)',
    // Most pay with the wallet that their key is of.
    'create index tollhouse_call_payer on tollhouse_call (payer, at, seq) where payer <> buyer',
    'create index tollhouse_call_payment on tollhouse_call (payment_id) where payment_id is not null',
    'alter table "tollhouse_service_key" add column "version" integer default 1 not null',
    `alter table "tollhouse_service_key" add column "allowed_projects" ${text} default '[]' not null`,
  ];
}
