import { CALLER_ERRORS } from '../framework/api-caller.js';
import type { Operation } from '../openapi/operation.js';
import { eventsQuery, streamQuery } from './events-queries.js';
import { eventsResponse } from './events-responses.js';

const TAG = 'Events';
const PATH = '/api/v1/events';

/** Events, as a list and as a stream. */
export const EVENTS_OPERATIONS: readonly Operation[] = [
  {
    method: 'get',
    path: PATH,
    id: 'listEvents',
    tag: TAG,
    summary: 'What happened, newest first',
    query: eventsQuery,
    answers: { 200: { description: 'One page of events.', schema: eventsResponse } },
    errors: [...CALLER_ERRORS, 'validation_failed', 'not_found'],
  },
  {
    method: 'get',
    path: `${PATH}/stream`,
    id: 'streamEvents',
    tag: TAG,
    summary: 'What happens, as it happens',
    description:
      'Server-sent events: `id`, `event` (the type) and `data` (the event as JSON). With `Last-Event-ID` it goes on after ' +
      'that event, without it from now on. It ends after 15 minutes, or when the token runs out: connect again.',
    query: streamQuery,
    answers: { 200: { description: 'The stream.', mediaType: 'text/event-stream' } },
    errors: [...CALLER_ERRORS, 'validation_failed', 'not_found'],
  },
];
