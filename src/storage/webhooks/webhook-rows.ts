import { EVENT_TYPES } from '../events/events.js';
import type { ColumnValues } from '../sql/columns.js';
import type { Row } from '../sql/sql-database.js';
import type { DisabledReason, WebhookEvents, WebhookRecord } from './webhooks.js';

/** Columns of a webhook. */
export const WEBHOOK_NAMES = [
  'id',
  'owner',
  'project_id',
  'url',
  'address',
  'events',
  'description',
  'secret',
  'previous_secret',
  'previous_until',
  'status',
  'disabled_reason',
  'failing_since',
  'created_at',
  'updated_at',
] as const;
/** The same for a statement. */
export const WEBHOOK_COLUMNS = WEBHOOK_NAMES.join(', ');

/** The host of a URL, with its port where that is another than usual. */
export function webhookAddress(url: string): string {
  return new URL(url).host;
}

/** A webhook as the columns of `tollhouse_webhook`. */
export function webhookToSql(webhook: WebhookRecord): ColumnValues<(typeof WEBHOOK_NAMES)[number]> {
  return {
    id: webhook.id,
    owner: webhook.owner,
    project_id: webhook.projectId ?? null,
    url: webhook.url,
    address: webhookAddress(webhook.url),
    events: JSON.stringify(webhook.events),
    description: webhook.description ?? null,
    secret: webhook.secret,
    previous_secret: webhook.previousSecret ?? null,
    previous_until: webhook.previousUntil ?? null,
    status: webhook.disabledReason === undefined ? 'enabled' : 'disabled',
    disabled_reason: webhook.disabledReason ?? null,
    failing_since: webhook.failingSince ?? null,
    created_at: webhook.createdAt,
    updated_at: webhook.updatedAt,
  };
}

/** A row of `tollhouse_webhook`. */
export function toWebhook(row: Row): WebhookRecord {
  return {
    id: String(row.id),
    owner: String(row.owner),
    ...(row.project_id === null ? {} : { projectId: String(row.project_id) }),
    url: String(row.url),
    events: eventsOf(String(row.events)),
    ...(row.description === null ? {} : { description: String(row.description) }),
    secret: String(row.secret),
    ...(row.previous_secret === null ? {} : { previousSecret: String(row.previous_secret) }),
    ...(row.previous_until === null ? {} : { previousUntil: Number(row.previous_until) }),
    ...(row.disabled_reason === null ? {} : { disabledReason: row.disabled_reason as DisabledReason }),
    ...(row.failing_since === null ? {} : { failingSince: Number(row.failing_since) }),
    createdAt: Number(row.created_at),
    updatedAt: Number(row.updated_at),
  };
}

/** Without types that could be subscribed to once, and were never sent. */
function eventsOf(text: string): WebhookEvents {
  const names: readonly string[] = JSON.parse(text);
  if (names.includes('*')) return ['*'];
  return EVENT_TYPES.filter((type) => names.includes(type));
}
