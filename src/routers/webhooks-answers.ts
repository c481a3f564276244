import { z } from 'zod';
import type { LoggedDelivery } from '../gateway/webhook-deliveries.js';
import type { DeliveryAttempt, DeliveryRecord } from '../storage/deliveries.js';
import { EVENT_TYPES } from '../storage/events.js';
import type { WebhookRecord } from '../storage/webhooks.js';
import { type Answer, count } from './answer.js';
import { listAnswerOf } from './list-answer.js';

const time = z.iso.datetime();

/** A webhook as its owner sees it. */
export const webhookAnswer = z.object({
  id: z.string(),
  url: z.string(),
  events: z.array(z.enum([...EVENT_TYPES, '*'])),
  project_id: z.string().nullable().describe('Null: events of all projects, and of none.'),
  description: z.string().nullable(),
  status: z.enum(['enabled', 'disabled']),
  disabled_reason: z
    .enum(['owner', 'gone', 'failing'])
    .nullable()
    .describe('`gone`: the receiver answered 410. `failing`: it did not succeed once in five days.'),
  failing_since: time.nullable().describe('When the first attempt failed since the last success.'),
  previous_secret_expires_at: time
    .nullable()
    .describe('Until when messages are signed with the secret before as well.'),
  created_at: time,
  updated_at: time,
});

/** A webhook with its secret. */
export const revealedWebhookAnswer = webhookAnswer.extend({
  secret: z.string().describe('Signs every message (Standard Webhooks); shown this once.'),
});

/** Answer of `GET /api/v1/webhooks`. */
export const webhooksAnswer = listAnswerOf(webhookAnswer);

/** An event on its way to a webhook. */
export const deliveryAnswer = z.object({
  id: z.string(),
  event_id: z.string().describe('The header `webhook-id` of every attempt.'),
  event_type: z.enum(EVENT_TYPES),
  status: z.enum(['pending', 'delivered', 'failed']),
  attempts: count,
  next_attempt_at: time.nullable(),
  created_at: time,
  finished_at: time.nullable(),
});

/** A delivery with all attempts at it. */
export const loggedDeliveryAnswer = deliveryAnswer.extend({
  log: z.array(
    z.object({
      number: count,
      at: time,
      duration_ms: count,
      status: z.int().nullable().describe('HTTP status of the answer.'),
      error: z.string().nullable().describe('Why there was no whole answer: `timeout`, `ECONNREFUSED`, ….'),
      answer: z.string().nullable().describe('The first 4 KiB of the answer.'),
    }),
  ),
});

/** Answer of `GET /api/v1/webhooks/:id/deliveries`. */
export const deliveriesAnswer = listAnswerOf(deliveryAnswer);

/** Answer of `POST /api/v1/webhooks/:id/recover`. */
export const recoverAnswer = z.object({ recovered: count.describe('Deliveries that are made once more.') });

/**
 * A webhook as its owner sees it.
 * @param now - milliseconds since the epoch, for what has ended by then
 */
export function showWebhook(webhook: WebhookRecord, now: number): Answer<typeof webhookAnswer> {
  const { disabledReason, previousUntil = 0 } = webhook;
  return {
    id: webhook.id,
    url: webhook.url,
    events: webhook.events,
    project_id: webhook.projectId ?? null,
    description: webhook.description ?? null,
    status: disabledReason === undefined ? 'enabled' : 'disabled',
    disabled_reason: disabledReason ?? null,
    failing_since: timeText(webhook.failingSince),
    previous_secret_expires_at: timeText(previousUntil > now ? previousUntil : undefined),
    created_at: new Date(webhook.createdAt).toISOString(),
    updated_at: new Date(webhook.updatedAt).toISOString(),
  };
}

/** A webhook with its secret, as its owner sees it once. */
export function showRevealedWebhook(webhook: WebhookRecord, now: number): Answer<typeof revealedWebhookAnswer> {
  return { ...showWebhook(webhook, now), secret: webhook.secret };
}

/** A delivery as the webhook's owner sees it. */
export function showDelivery(delivery: DeliveryRecord): Answer<typeof deliveryAnswer> {
  return {
    id: delivery.id,
    event_id: delivery.eventId,
    event_type: delivery.eventType,
    status: delivery.state,
    attempts: delivery.attempts,
    next_attempt_at: timeText(delivery.nextAt),
    created_at: new Date(delivery.createdAt).toISOString(),
    finished_at: timeText(delivery.finishedAt),
  };
}

/** A delivery with all attempts at it. */
export function showLoggedDelivery({ delivery, attempts }: LoggedDelivery): Answer<typeof loggedDeliveryAnswer> {
  return { ...showDelivery(delivery), log: attempts.map(showAttempt) };
}

function showAttempt({ number, at, durationMs, status, error, answer }: DeliveryAttempt) {
  return {
    number,
    at: new Date(at).toISOString(),
    duration_ms: durationMs,
    status: status ?? null,
    error: error ?? null,
    answer: answer ?? null,
  };
}

function timeText(time: number | undefined): string | null {
  return time === undefined ? null : new Date(time).toISOString();
}
