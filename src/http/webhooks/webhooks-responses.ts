import { z } from 'zod';
import { EVENT_TYPES } from '../../storage/events/events.js';
import { listResponseOf } from '../framework/list-response.js';
import { countSchema } from '../framework/response.js';

const time = z.iso.datetime();

/** A webhook as its owner sees it. */
export const webhookResponse = z.object({
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
export const revealedWebhookResponse = webhookResponse.extend({
  secret: z.string().describe('Signs every message (Standard Webhooks); shown this once.'),
});

/** Answer of `GET /api/v1/webhooks`. */
export const webhooksResponse = listResponseOf(webhookResponse);

/** An event on its way to a webhook. */
export const deliveryResponse = z.object({
  id: z.string(),
  event_id: z.string().describe('The header `webhook-id` of every attempt.'),
  event_type: z.enum(EVENT_TYPES),
  status: z.enum(['pending', 'delivered', 'failed']),
  attempts: countSchema,
  next_attempt_at: time.nullable(),
  created_at: time,
  finished_at: time.nullable(),
});

/** A delivery with all attempts at it. */
export const loggedDeliveryResponse = deliveryResponse.extend({
  log: z.array(
    z.object({
      number: countSchema,
      at: time,
      duration_ms: countSchema,
      status: z.int().nullable().describe('HTTP status of the answer.'),
      error: z.string().nullable().describe('Why there was no whole answer: `timeout`, `ECONNREFUSED`, ….'),
      answer: z.string().nullable().describe('The first 4 KiB of the answer.'),
    }),
  ),
});

/** Answer of `GET /api/v1/webhooks/:id/deliveries`. */
export const deliveriesResponse = listResponseOf(deliveryResponse);

/** Answer of `POST /api/v1/webhooks/:id/recover`. */
export const recoverResponse = z.object({ recovered: countSchema.describe('Deliveries that are made once more.') });
