import { type AuditEntry, newAuditEntry } from '../audit/audit-log.js';
import { auditSteps } from '../audit/audit-statements.js';
import { type ColumnValues, namesOf, placesOf, valuesOf } from '../sql/columns.js';
import { type JsonRow, jsonRow } from '../sql/json-groups.js';
import type { Statement, Step } from '../sql/sql-database.js';
import type { EventRecord } from './events.js';

/** Columns that are written of an event. */
export const EVENT_INPUT = {
  id: 'text',
  type: 'text',
  at: 'bigint',
  owner: 'text',
  project_id: 'text',
  data: 'text',
} as const;

const NAMES = namesOf(EVENT_INPUT);
/** Where the owner is once more, so that each parameter is there once. */
const OWNER = `$${NAMES.length + 1}`;

/** Columns that an insert of events names. */
export const EVENT_INSERT = `${NAMES.join(', ')}, fanned_out`;

/** Whether there is nothing to deliver, because the owner has no webhook: most events never go through the outbox. */
export function fannedOut(owner: string): string {
  return `case when exists (select 1 from tollhouse_webhook where tollhouse_webhook.owner = ${owner}) then 0 else 1 end`;
}

const APPEND: Statement = {
  name: 'tollhouse_append_event',
  text: `insert into tollhouse_event (${EVENT_INSERT}) values (${placesOf(NAMES)}, ${fannedOut(OWNER)})`,
};

const APPEND_ONCE: Statement = {
  name: 'tollhouse_append_event_once',
  text: `${APPEND.text} on conflict (id) do nothing returning id`,
};

/** The step that writes an event unless one with its id is there: then it answers no row. */
export function eventOnceStep(event: EventRecord): Step {
  return [APPEND_ONCE, ...valuesOf(NAMES, eventToSql(event)), event.owner];
}

/** The steps that write events, and who has caused them, to be put into the transaction of what they tell. */
export function eventSteps(events: readonly EventRecord[]): readonly Step[] {
  return events.flatMap((event) => [
    [APPEND, ...valuesOf(NAMES, eventToSql(event)), event.owner] as const,
    ...auditSteps(auditOf(event)),
  ]);
}

function auditOf({ type: action, at, owner, cause }: EventRecord): readonly AuditEntry[] {
  return cause === undefined ? [] : [newAuditEntry({ action, owner, details: {}, ...cause }, at)];
}

/** An event as a row of {@link EVENT_INPUT}, for statements that take it as JSON. */
export function eventRow(event: EventRecord): JsonRow {
  return jsonRow(eventToSql(event));
}

function eventToSql({ id, type, at, owner, projectId, data }: EventRecord): ColumnValues<keyof typeof EVENT_INPUT> {
  return { id, type, at, owner, project_id: projectId ?? null, data: JSON.stringify(data) };
}
