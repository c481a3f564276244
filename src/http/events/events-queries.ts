import { z } from 'zod';
import { EVENT_TYPES, type EventType } from '../../storage/events/events.js';
import { pageQuery } from '../framework/list-response.js';

const MAX_TYPES_LENGTH = 1_024;
const known: readonly string[] = EVENT_TYPES;
const isType = (name: string): name is EventType => known.includes(name);

const id = z.string('must be a text').min(1, 'must not be empty').max(64, 'must have at most 64 characters');
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
