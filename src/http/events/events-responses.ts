import { z } from 'zod';
import { EVENT_TYPES } from '../../storage/events/events.js';
import { listResponseOf } from '../framework/list-response.js';

/** An event as lists, streams and webhooks show it. */
export const eventResponse = z.object({
  id: z.string(),
  type: z.enum(EVENT_TYPES),
  timestamp: z.iso.datetime(),
  project_id: z.string().nullable(),
  data: z.record(z.string(), z.unknown()),
});

/** Answer of `GET /api/v1/events`. */
export const eventsResponse = listResponseOf(eventResponse);
