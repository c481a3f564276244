import { z } from 'zod';
import { EVENT_TYPES, type EventType } from '../../storage/events/events.js';
import type { WebhookEvents } from '../../storage/webhooks/webhooks.js';
import { pageQuery } from '../framework/list-response.js';

const MAX_DESCRIPTION = 200;
const object = 'must be a JSON object';
const id = z.string('must be a text').min(1, 'must not be empty').max(64, 'must have at most 64 characters');

const url = z
  .string('must be a text')
  .max(2_048, 'must have at most 2048 characters')
  .describe('Where events are posted to: https, a public address, no user or password.');
const type = z.enum(EVENT_TYPES, `must be one of ${EVENT_TYPES.join(', ')}`);
const events = z
  .array(z.union([type, z.literal('*')], 'must be a type of events, or *'), 'must be a list')
  .min(1, 'must name a type')
  .max(EVENT_TYPES.length, `must name at most ${EVENT_TYPES.length} types`)
  .transform((names): WebhookEvents => {
    const types = [...new Set(names)].filter((name): name is EventType => name !== '*');
    return names.includes('*') ? ['*'] : types;
  })
  .describe('Types of events that are posted; `*` for all.');
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
export const webhookPatch = z.strictObject(
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
export const createdCursor = z.tuple([z.int(), id]);
