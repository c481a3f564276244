import type { Dialect } from '../sql-database.js';

/** The order of events is that of their numbers where there is one writer at a time, and needs no index beside them. */
export function eventOrder(dialect: Dialect): readonly string[] {
  return dialect === 'postgres' ? [] : ['drop index tollhouse_event_order'];
}
