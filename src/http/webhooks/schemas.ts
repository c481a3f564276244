import { z } from 'zod';
import { didYouMean } from '../../lib/did-you-mean.js';
import { EVENT_TYPES, type EventType } from '../../storage/events/events.js';
import type { WebhookEvents } from '../../storage/webhooks/webhooks.js';
import { countSchema, nameText } from '../framework/fields.js';
import { listResponseOf, pageQuery } from '../framework/list-response.js';
import { API } from '../framework/path.js';

const PATH = `${API}/webhooks` as const;

/** Where webhooks are. */
export const WEBHOOKS_PATHS = {
  all: PATH,
  one: `${PATH}/:id`,
  rotate: `${PATH}/:id/rotate`,
  test: `${PATH}/:id/test`,
  recover: `${PATH}/:id/recover`,
  deliveries: `${PATH}/:id/deliveries`,
  delivery: `${PATH}/:id/deliveries/:delivery`,
  retry: `${PATH}/:id/deliveries/:delivery/retry`,
} as const;

const MAX_DESCRIPTION = 200;
const object = 'must be a JSON object';
const id = nameText(64);

const url = z
  .string('must be a text')
  .max(2_048, 'must have at most 2048 characters')
  .describe('Where events are posted to: https, a public address, no user or password.');
const type = z.enum(EVENT_TYPES, `must be one of ${EVENT_TYPES.join(', ')}`);
const events = z
  .array(z.union([type, z.literal('*')], { error: ({ input }) => notType(input) }), 'must be a list')
  .min(1, 'must name a type')
  .max(EVENT_TYPES.length, `must name at most ${EVENT_TYPES.length} types`)
  .transform((names): WebhookEvents => {
    const types = [...new Set(names)].filter((name): name is EventType => name !== '*');
    return names.includes('*') ? ['*'] : types;
  })
  .describe('Types of events that are posted; `*` for all.');

function notType(input: unknown): string {
  const meant = typeof input === 'string' ? didYouMean(input, EVENT_TYPES) : undefined;
  return `must be a type of events, or *${meant === undefined ? '' : `; did you mean "${meant}"?`}`;
}

const description = z
  .string('must be a text')
  .max(MAX_DESCRIPTION, `must have at most ${MAX_DESCRIPTION} characters`)
  .regex(/^\P{Cc}*$/u, 'must not have control characters');

/** Body of `POST /api/v1/webhooks`. */
export const webhookBody = z.strictObject(
  {
    url,
    events,
    project_id: id.optional().describe('A project of yours, the only one whose events are posted. Default: all.'),
    description: description.optional(),
  },
  object,
);

/** Body of `PATCH /api/v1/webhooks/:id`. */
export const webhookPatchBody = z.strictObject(
  {
    url: url.optional(),
    events: events.optional(),
    description: description.nullable().optional().describe('Null takes it away.'),
    enabled: z
      .boolean('must be true or false')
      .optional()
      .describe('False: nothing is posted any more, and what was not posted yet has failed.'),
  },
  object,
);

/** Body of `POST /api/v1/webhooks/:id/test`. */
export const testBody = z.strictObject(
  { type: type.optional().describe('Default: the first that is posted.') },
  object,
);

/** Body of `POST /api/v1/webhooks/:id/recover`. */
export const recoverBody = z.strictObject(
  {
    since: z.iso
      .datetime({ offset: true, error: 'must be a time such as 2030-01-02T03:04:05Z' })
      .describe('Deliveries of then or later that failed are made once more.'),
  },
  object,
);

/** Query of `GET /api/v1/webhooks`. */
export const webhooksQuery = z.object(pageQuery);

/** Query of `GET /api/v1/webhooks/:id/deliveries`. */
export const deliveriesQuery = z.object({
  ...pageQuery,
  status: z
    .enum(['pending', 'delivered', 'failed'], 'must be pending, delivered or failed')
    .optional()
    .describe('Default: all.'),
});

/** What the cursors of these lists hold: creation and id. */
export const webhooksCursor = z.tuple([z.int(), id]);

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

/** Response of `GET /api/v1/webhooks`. */
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

/** A delivery with the attempts at it that are still kept. */
export const loggedDeliveryResponse = deliveryResponse.extend({
  log: z
    .array(
      z.object({
        number: countSchema,
        at: time,
        duration_ms: countSchema,
        status: z.int().nullable().describe('HTTP status of the answer.'),
        error: z.string().nullable().describe('Why there was no whole answer: `timeout`, `ECONNREFUSED`, ….'),
        answer: z.string().nullable().describe('The first 256 characters of the answer, where the attempt failed.'),
      }),
    )
    .describe(
      'Of a webhook the newest 1,000 attempts are kept that failed, and as many that succeeded; `attempts` counts all.',
    ),
});

/** Response of `GET /api/v1/webhooks/:id/deliveries`. */
export const deliveriesResponse = listResponseOf(deliveryResponse);

/** Response of `POST /api/v1/webhooks/:id/recover`. */
export const recoverResponse = z.object({ recovered: countSchema.describe('Deliveries that are made once more.') });
