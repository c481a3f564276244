import { z } from 'zod';
import { EVENT_TYPES, type EventType } from '../../storage/events/events.js';
import { nameText } from '../framework/fields.js';
import { listResponseOf, pageQuery } from '../framework/list-response.js';
import { API } from '../framework/path.js';

/** Where events are. */
export const EVENTS_PATHS = { all: `${API}/events`, stream: `${API}/events/stream` } as const;

const MAX_TYPES_LENGTH = 1_024;
const known: readonly string[] = EVENT_TYPES;
const isType = (name: string): name is EventType => known.includes(name);

const id = nameText(64);
const types = z
  .string('must be a text')
  .max(MAX_TYPES_LENGTH, `must have at most ${MAX_TYPES_LENGTH} characters`)
  .refine((text) => text.split(',').every(isType), `must be types of events, separated by commas: ${known.join(', ')}`)
  .transform((text) => text.split(',').filter(isType))
  .optional()
  .describe('Types of events, separated by commas. Default: all.');
const filters = { types, project_id: id.optional().describe('Default: events of all projects, and of none.') };

/** Query of `GET /api/v1/events`. */
export const eventsQuery = z.object({ ...pageQuery, ...filters });

/** Query of `GET /api/v1/events/stream`. */
export const streamQuery = z.object({
  ...filters,
  last_event_id: id.optional().describe('For clients that cannot send the header `Last-Event-ID`, which counts more.'),
});

/** What the cursor of the list holds. */
export const eventsCursor = z.tuple([z.int(), z.int()]);

/** An event as lists, streams and webhooks show it. */
export const eventResponse = z.object({
  id: z.string(),
  type: z.enum(EVENT_TYPES),
  timestamp: z.iso.datetime(),
  project_id: z.string().nullable(),
  mode: z
    .enum(['live', 'test'])
    .nullable()
    .describe('What money it is about: that of mainnet, or of a test network. Null for none.'),
  data: z.record(z.string(), z.unknown()),
});

/** Response of `GET /api/v1/events`. */
export const eventsResponse = listResponseOf(eventResponse);
