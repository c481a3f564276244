import { TollhouseError } from '../../errors/errors.js';
import { eventMessage } from '../../gateway/webhooks/event-message.js';
import type { EventTail } from '../../gateway/webhooks/event-tail.js';
import { clientAddress } from '../../middleware/gate/client-address.js';
import { EVENTS_BEGIN, type EventLog, type LoggedEvent } from '../../storage/events/event-log.js';
import type { EventType } from '../../storage/events/events.js';
import { type ApiCaller, type ApiCallerParts, isStillLetIn } from '../framework/api-caller.js';
import { listResponse, readCursor } from '../framework/list-response.js';
import { defineOperation } from '../framework/operation.js';
import { type StreamTimes, streamEvents } from './event-stream.js';
import { EVENTS_PATHS, eventsCursor, eventsQuery, eventsResponse, streamQuery } from './schemas.js';
import { createStreamRoom, type StreamRoom } from './stream-room.js';

/** What {@link EVENTS_OPERATIONS} work with; made by {@link eventsParts}. */
export interface EventsParts {
  readonly log: EventLog;
  /** Closed when the server stops, which ends every stream. */
  readonly tail: EventTail;
  /** How callers are checked: streams ask again from time to time. */
  readonly callers: ApiCallerParts;
  readonly times: StreamTimes;
  readonly room: StreamRoom;
}

const TAG = 'Events';
const SCOPE = 'events:read';
const ERRORS = ['validation_failed', 'not_found'] as const;
const TIMES: StreamTimes = { heartbeatMs: 15_000, patienceMs: 30_000, lifetimeMs: 15 * 60_000 };

/**
 * Makes what the operations on events work with.
 * @param given - `times` default to a heartbeat every 15 s, 30 s of patience, 15 minutes of life
 */
export function eventsParts({
  times,
  ...given
}: Omit<EventsParts, 'times' | 'room'> & { readonly times?: Partial<StreamTimes> }): EventsParts {
  return { ...given, times: { ...TIMES, ...times }, room: createStreamRoom() };
}

const listEvents = defineOperation({
  method: 'get',
  path: EVENTS_PATHS.all,
  id: 'listEvents',
  tag: TAG,
  summary: 'What happened, newest first',
  scope: SCOPE,
  takesTurns: true,
  query: eventsQuery,
  responses: { 200: { description: 'One page of events.', schema: eventsResponse } },
  errors: ERRORS,
  async handler({ caller, query: { limit, cursor, types, project_id: asked } }, { log }: EventsParts) {
    const projectId = projectOf(caller, asked);
    const [tx, seq] = readCursor(cursor, eventsCursor) ?? [];
    const found = await log.list(caller.wallet, {
      limit: limit + 1,
      ...(types === undefined ? {} : { types }),
      ...(projectId === undefined ? {} : { projectId }),
      ...(tx === undefined || seq === undefined ? {} : { before: { tx, seq } }),
    });
    return listResponse(found, limit, ({ position }) => [position.tx, position.seq], eventMessage);
  },
});

const streamOperation = defineOperation({
  method: 'get',
  path: EVENTS_PATHS.stream,
  id: 'streamEvents',
  tag: TAG,
  summary: 'What happens, as it happens',
  description:
    'Server-sent events: `id`, `event` (the type) and `data` (the event as JSON). With `Last-Event-ID` it goes on after ' +
    'that event, without it from now on. It ends after 15 minutes, when the token runs out, or when the key may no more: connect again.',
  scope: SCOPE,
  query: streamQuery,
  responses: { 200: { description: 'The stream.', mediaType: 'text/event-stream' } },
  errors: ERRORS,
  head: (_req, res) => void res.type('text/event-stream').end(),
  async handler({ req, res, caller, query }, { log, tail, callers, times, room }: EventsParts) {
    const { types, project_id: asked, last_event_id: inQuery } = query;
    const owner = caller.wallet;
    const lastId = req.get('last-event-id') ?? inQuery;
    // An event that was forgotten is older than all that are kept: nothing is passed by.
    const after = lastId === undefined ? undefined : ((await log.find(owner, lastId))?.position ?? EVENTS_BEGIN);
    const selection = { owner, after, passes: filterOf(types, projectOf(caller, asked)) };
    const leave = room.enter(owner, clientAddress(req).client);
    try {
      await streamEvents(res, selection, { log, tail, times, isStillLetIn: () => isStillLetIn(req, callers, SCOPE) });
    } finally {
      leave();
    }
  },
});

/** `/api/v1/events`: what happened to a wallet and its projects, as a list and as a stream. */
export const EVENTS_OPERATIONS = [listEvents, streamOperation];

function filterOf(types: readonly EventType[] | undefined, projectId: string | undefined) {
  return (event: LoggedEvent) =>
    (types === undefined || types.includes(event.type)) && (projectId === undefined || event.projectId === projectId);
}

/** The project whose events are meant; with a key that is restricted to one there is no other. */
function projectOf({ projectId }: ApiCaller, asked: string | undefined): string | undefined {
  if (projectId === undefined || asked === undefined || asked === projectId) return projectId ?? asked;
  throw new TollhouseError('not_found', 'The service key is for another project.');
}
