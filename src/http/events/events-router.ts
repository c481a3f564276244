import { type Request, type RequestHandler, type Response, Router } from 'express';
import { TollhouseError } from '../../errors/errors.js';
import { eventMessage } from '../../gateway/webhooks/event-message.js';
import type { EventTail } from '../../gateway/webhooks/event-tail.js';
import type { Scope } from '../../identity/service-keys/scopes.js';
import { EVENTS_BEGIN, type EventLog, type LoggedEvent } from '../../storage/events/event-log.js';
import type { EventType } from '../../storage/events/events.js';
import { type ApiCallerParts, callerOf } from '../framework/api-caller.js';
import { handled } from '../framework/handled.js';
import { listResponse, readCursor } from '../framework/list-response.js';
import { noStore } from '../framework/no-store.js';
import { problemHandler } from '../framework/problem-handler.js';
import { readBody } from '../framework/read-body.js';
import { refuseOtherMethods } from '../framework/refuse-other-methods.js';
import { isStillLetIn } from '../framework/revalidate-caller.js';
import { type StreamSelection, type StreamTimes, streamEvents } from './event-stream.js';
import { eventsCursor, eventsQuery, streamQuery } from './events-queries.js';

/** Options of {@link createEventsRouter}. */
export interface EventsRouterOptions {
  readonly log: EventLog;
  /** Closed when the server stops, which ends every stream. */
  readonly tail: EventTail;
  /** Checks who is calling; made by `createApiCaller`. */
  readonly callerFor: (scope: Scope) => RequestHandler;
  /** What `callerFor` was made with: streams ask again from time to time. */
  readonly callers: ApiCallerParts;
  /** Default: a heartbeat every 15 s, 30 s of patience, 15 minutes of life. */
  readonly times?: Partial<StreamTimes>;
}

const PATH = '/api/v1/events';
const TIMES: StreamTimes = { heartbeatMs: 15_000, patienceMs: 30_000, lifetimeMs: 15 * 60_000 };
const MAX_STREAMS = 1_000;
const MAX_STREAMS_OF_WALLET = 10;
const RETRY_SECONDS = 10;

/** `/api/v1/events` (service.md §6): what happened to a wallet and its projects, as a list and as a stream. */
export function createEventsRouter(options: EventsRouterOptions): Router {
  const { log, tail, callerFor, callers } = options;
  const times = { ...TIMES, ...options.times };
  const room = createRoom();
  const read = callerFor('events:read');
  const router = Router();

  async function stream(req: Request, res: Response): Promise<void> {
    const selection = await selectionOf(req, log);
    const leave = room.enter(selection.owner);
    try {
      await streamEvents(res, selection, { log, tail, times, isStillLetIn: () => isStillLetIn(req, callers) });
    } finally {
      leave();
    }
  }

  router
    .route(PATH)
    .get(
      noStore,
      read,
      handled(async (req, res) => void res.json(await listEvents(log, req))),
    )
    .all(refuseOtherMethods('GET', 'HEAD'));
  router
    .route(`${PATH}/stream`)
    .head(noStore, read, (_req, res) => void res.type('text/event-stream').end())
    .get(noStore, read, handled(stream))
    .all(refuseOtherMethods('GET', 'HEAD'));
  router.use(problemHandler);
  return router;
}

async function listEvents(log: EventLog, req: Request) {
  const { limit, cursor, types, project_id: asked } = readBody(eventsQuery, req.query);
  const projectId = projectOf(req, asked);
  const [tx, seq] = readCursor(cursor, eventsCursor) ?? [];
  const found = await log.list(callerOf(req).wallet, {
    limit: limit + 1,
    ...(types === undefined ? {} : { types }),
    ...(projectId === undefined ? {} : { projectId }),
    ...(tx === undefined || seq === undefined ? {} : { before: { tx, seq } }),
  });
  return listResponse(found, limit, ({ position }) => [position.tx, position.seq], eventMessage);
}

async function selectionOf(req: Request, log: EventLog): Promise<StreamSelection> {
  const { types, project_id: asked, last_event_id: inQuery } = readBody(streamQuery, req.query);
  const owner = callerOf(req).wallet;
  const lastId = req.get('last-event-id') ?? inQuery;
  // An event that was forgotten is older than all that are kept: nothing is passed by.
  const after = lastId === undefined ? undefined : ((await log.find(owner, lastId))?.position ?? EVENTS_BEGIN);
  return { owner, after, passes: filterOf(types, projectOf(req, asked)) };
}

function filterOf(types: readonly EventType[] | undefined, projectId: string | undefined) {
  return (event: LoggedEvent) =>
    (types === undefined || types.includes(event.type)) && (projectId === undefined || event.projectId === projectId);
}

/** The project whose events are meant; with a key that is restricted to one there is no other. */
function projectOf(req: Request, asked: string | undefined): string | undefined {
  const { projectId } = callerOf(req);
  if (projectId === undefined || asked === undefined || asked === projectId) return projectId ?? asked;
  throw new TollhouseError('not_found', 'The service key is for another project.');
}

/** Counts open streams. */
function createRoom() {
  const open = new Map<string, number>();
  let all = 0;
  return {
    /** Returns how to leave; throws `rate_limited` when there is no room. */
    enter(wallet: string): () => void {
      const own = open.get(wallet) ?? 0;
      if (own >= MAX_STREAMS_OF_WALLET || all >= MAX_STREAMS) {
        const detail = `At most ${MAX_STREAMS_OF_WALLET} streams of a wallet, and ${MAX_STREAMS} in all, are open at once.`;
        throw new TollhouseError('rate_limited', detail, { retryAfterSeconds: RETRY_SECONDS });
      }
      open.set(wallet, own + 1);
      all += 1;
      return () => {
        const left = (open.get(wallet) ?? 1) - 1;
        if (left === 0) open.delete(wallet);
        else open.set(wallet, left);
        all -= 1;
      };
    },
  };
}
