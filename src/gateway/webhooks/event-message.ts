import type { EventData, EventRecord, EventType } from '../../storage/events/events.js';

/** An event as webhooks, streams and lists show it. */
export interface EventMessage {
  /** `evt_…`. */
  readonly id: string;
  readonly type: EventType;
  /** When it happened, RFC 3339. */
  readonly timestamp: string;
  /** The project it belongs to; null for none. */
  readonly project_id: string | null;
  readonly data: EventData;
}

/** The message of an event; the same each time. */
export function eventMessage({ id, type, at, projectId, data }: EventRecord): EventMessage {
  return { id, type, timestamp: new Date(at).toISOString(), project_id: projectId ?? null, data };
}
