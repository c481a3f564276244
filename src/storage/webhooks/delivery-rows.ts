import { toEvent } from '../events/event-rows.js';
import type { EventType } from '../events/events.js';
import type { Row } from '../sql/sql-database.js';
import type { DeliveryAttempt, DeliveryRecord, DeliveryState, TakenDelivery } from './deliveries.js';

/** A row of `tollhouse_delivery` with the type of its event. */
export function toDelivery(row: Row): DeliveryRecord {
  return {
    id: String(row.id),
    webhookId: String(row.webhook_id),
    eventId: String(row.event_id),
    eventType: row.type as EventType,
    state: row.state as DeliveryState,
    attempts: Number(row.attempts),
    ...(row.next_at === null ? {} : { nextAt: Number(row.next_at) }),
    createdAt: Number(row.created_at),
    ...(row.finished_at === null ? {} : { finishedAt: Number(row.finished_at) }),
  };
}

/** A row of a delivery that was taken, with its event. */
export function toTaken(row: Row, webhookId: string, lease: string): TakenDelivery {
  return {
    id: String(row.delivery_id),
    webhookId,
    lease,
    event: toEvent(row),
    attempts: Number(row.attempts),
    place: Number(row.place),
  };
}

/** A row of `tollhouse_delivery_attempt`. */
export function toAttempt(row: Row): DeliveryAttempt {
  return {
    number: Number(row.number),
    at: Number(row.at),
    durationMs: Number(row.duration_ms),
    ...(row.status === null ? {} : { status: Number(row.status) }),
    ...(row.error === null ? {} : { error: String(row.error) }),
    ...(row.answer === null ? {} : { answer: String(row.answer) }),
  };
}
