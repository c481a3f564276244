import type { Dialect } from '../sql-database.js';
import { columnTypes } from './schema-step.js';

/** On which network a project is paid, as its price says: the marketplace keeps what is sold for test money apart. */
export function projectNetworks(dialect: Dialect): readonly string[] {
  const { text } = columnTypes(dialect);
  const named =
    dialect === 'postgres'
      ? "cast(details as json) -> 'price' ->> 'network'"
      : "json_extract(details, '$.price.network')";
  return [
    `alter table "tollhouse_project" add column "network" ${text} default '' not null`,
    `update tollhouse_project set network = coalesce(${named}, '')`,
  ];
}
