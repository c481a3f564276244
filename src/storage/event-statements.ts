import type { EventRecord } from './events.js';
import type { Statement, Step } from './sql-database.js';

const APPEND: Statement = {
  name: 'tollhouse_append_event',
  text: `insert into tollhouse_event (id, type, at, owner, project_id, data) values ($1, $2, $3, $4, $5, $6)`,
};

/** The steps that write events, to be put into the transaction of what they tell. */
export function eventSteps(events: readonly EventRecord[]): readonly Step[] {
  return events.map(({ id, type, at, owner, projectId, data }) => [
    APPEND,
    id,
    type,
    at,
    owner,
    projectId ?? null,
    JSON.stringify(data),
  ]);
}
