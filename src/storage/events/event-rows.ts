import type { Row } from '../sql/sql-database.js';
import type { LoggedEvent } from './event-log.js';
import type { EventData, EventRecord, EventType } from './events.js';

/** The columns that {@link toEvent} reads. */
export const EVENT_COLUMNS = 'id, type, at, owner, project_id, data, tx, seq';

/** A row of `tollhouse_event`. */
export function toEvent(row: Row): EventRecord {
  return {
    id: String(row.id),
    type: row.type as EventType,
    at: Number(row.at),
    owner: String(row.owner),
    ...(typeof row.project_id === 'string' ? { projectId: row.project_id } : {}),
    data: JSON.parse(String(row.data)) as EventData,
  };
}

/** A row of `tollhouse_event` with its place. */
export function toLoggedEvent(row: Row): LoggedEvent {
  return { ...toEvent(row), position: { tx: Number(row.tx), seq: Number(row.seq) } };
}
