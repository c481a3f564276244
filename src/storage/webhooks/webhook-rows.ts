import type { Row, SqlInput } from '../sql/sql-database.js';
import type { DisabledReason, WebhookEvents, WebhookRecord } from './webhooks.js';

/** The columns that {@link toWebhook} reads, in the order of {@link webhookToSql}. */
export const WEBHOOK_COLUMNS =
  'id, owner, project_id, url, events, description, secret, previous_secret, previous_until, status, disabled_reason, ' +
  'failing_since, created_at, updated_at';

/** A webhook as columns. */
export function webhookToSql(webhook: WebhookRecord): readonly SqlInput[] {
  const { id, owner, projectId, url, events, description, secret, previousSecret, previousUntil } = webhook;
  const { disabledReason, failingSince, createdAt, updatedAt } = webhook;
  const texts = [id, owner, projectId ?? null, url, JSON.stringify(events), description ?? null];
  const secrets = [secret, previousSecret ?? null, previousUntil ?? null];
  const status = disabledReason === undefined ? 'enabled' : 'disabled';
  return [...texts, ...secrets, status, disabledReason ?? null, failingSince ?? null, createdAt, updatedAt];
}

/** A row of `tollhouse_webhook`. */
export function toWebhook(row: Row): WebhookRecord {
  return {
    id: String(row.id),
    owner: String(row.owner),
    ...(row.project_id === null ? {} : { projectId: String(row.project_id) }),
    url: String(row.url),
    events: JSON.parse(String(row.events)) as WebhookEvents,
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
