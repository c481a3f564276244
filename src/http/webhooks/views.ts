import type { LoggedDelivery } from '../../gateway/webhooks/webhook-deliveries.js';
import type { DeliveryAttempt, DeliveryRecord } from '../../storage/webhooks/deliveries.js';
import type { WebhookRecord } from '../../storage/webhooks/webhooks.js';
import { type ResponseBody, timeOrNull } from '../framework/fields.js';
import type { deliveryResponse, loggedDeliveryResponse, revealedWebhookResponse, webhookResponse } from './schemas.js';

/**
 * A webhook as its owner sees it.
 * @param now - milliseconds since the epoch, for what has ended by then
 */
export function webhookView(webhook: WebhookRecord, now: number): ResponseBody<typeof webhookResponse> {
  const { disabledReason, previousUntil = 0 } = webhook;
  return {
    id: webhook.id,
    url: webhook.url,
    events: webhook.events,
    project_id: webhook.projectId ?? null,
    description: webhook.description ?? null,
    status: disabledReason === undefined ? 'enabled' : 'disabled',
    disabled_reason: disabledReason ?? null,
    failing_since: timeOrNull(webhook.failingSince),
    previous_secret_expires_at: timeOrNull(previousUntil > now ? previousUntil : undefined),
    created_at: new Date(webhook.createdAt).toISOString(),
    updated_at: new Date(webhook.updatedAt).toISOString(),
  };
}

/** A webhook with its secret, as its owner sees it once. */
export function revealedWebhookView(webhook: WebhookRecord, now: number): ResponseBody<typeof revealedWebhookResponse> {
  return { ...webhookView(webhook, now), secret: webhook.secret };
}

/** A delivery as the webhook's owner sees it. */
export function deliveryView(delivery: DeliveryRecord): ResponseBody<typeof deliveryResponse> {
  return {
    id: delivery.id,
    event_id: delivery.eventId,
    event_type: delivery.eventType,
    status: delivery.state,
    attempts: delivery.attempts,
    next_attempt_at: timeOrNull(delivery.nextAt),
    created_at: new Date(delivery.createdAt).toISOString(),
    finished_at: timeOrNull(delivery.finishedAt),
  };
}

/** A delivery with the attempts at it that are still kept. */
export function loggedDeliveryView({
  delivery,
  attempts,
}: LoggedDelivery): ResponseBody<typeof loggedDeliveryResponse> {
  return { ...deliveryView(delivery), log: attempts.map(attemptView) };
}

function attemptView({ number, at, durationMs, status, error, answer }: DeliveryAttempt) {
  return {
    number,
    at: new Date(at).toISOString(),
    duration_ms: durationMs,
    status: status ?? null,
    error: error ?? null,
    answer: answer ?? null,
  };
}
