import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { EVENTS_PATHS } from '../../http/events/schemas.js';
import { CommandError, RefusedError } from '../command.js';
import { UnreachableError } from '../session/server-client.js';
import { type ServerSession, understood } from '../session/session.js';
import { readEventFrames } from './event-frames.js';

/** An event as the stream tells it. */
export type StreamedEvent = z.output<typeof eventSchema>;

/** What {@link followEvents} is asked for. */
export interface FollowOptions {
  readonly query: URLSearchParams;
  /** Ends it. */
  readonly signal: AbortSignal;
  /** Told of each event in its order; the next one waits for it. */
  readonly onEvent: (event: StreamedEvent) => Promise<void>;
  /** Told of the first connection, and of each one after an interruption. The server ends every stream in time: that is none. */
  readonly onConnected: () => void;
  /** Told why there is no connection, and when the next one is tried. */
  readonly onInterrupted: (reason: string) => void;
}

/** The server breaks a silence of 15 seconds. */
const SILENCE_MS = 45_000;
const RETRY_MS = 2_000;
const MAX_WAIT_MS = 10_000;
/** Clients that were cut off together do not come back together. */
const SPREAD = 0.4;
/** Names no event, and so all that come after the beginning. */
const BEGINNING = 'evt_0';

const eventSchema = z.object({
  id: z.string(),
  type: z.string(),
  timestamp: z.string(),
  project_id: z.string().nullable(),
  data: z.record(z.string(), z.unknown()),
});
const newestSchema = z.object({ data: z.array(z.object({ id: z.string() })) });

/**
 * Follows the events of a wallet from now on. After an interruption it connects again, ever more slowly, and goes on after the
 * last event that was seen.
 * @throws CommandError when the server refuses, and would again
 */
export async function followEvents(session: ServerSession, options: FollowOptions): Promise<void> {
  const { query, signal, onInterrupted } = options;
  const newest = understood(newestSchema, await session.get(`${EVENTS_PATHS.all}?limit=1`));
  const place = { lastId: newest.data[0]?.id ?? BEGINNING, retryMs: RETRY_MS, failures: 0, isNew: true };

  async function readOn(): Promise<void> {
    const headers = { accept: 'text/event-stream', 'last-event-id': place.lastId };
    const path = query.size === 0 ? EVENTS_PATHS.stream : `${EVENTS_PATHS.stream}?${query}`;
    const answer = await session.send({ method: 'GET', path, headers, signal, silenceMs: SILENCE_MS });
    if (place.isNew) options.onConnected();
    place.isNew = false;
    for await (const { id, data, retryMs } of readEventFrames(answer.body)) {
      place.failures = 0;
      place.retryMs = retryMs ?? place.retryMs;
      if (data !== undefined) await options.onEvent(understood(eventSchema, JSON.parse(data)));
      place.lastId = id ?? place.lastId;
    }
  }

  while (!signal.aborted) {
    const broken = await readOn().then(() => undefined, outageOf);
    if (signal.aborted) return;
    const waitMs = Math.min(place.retryMs * 2 ** place.failures, MAX_WAIT_MS) * (1 + SPREAD * (Math.random() - 0.5));
    place.failures += 1;
    if (broken !== undefined) {
      place.isNew = true;
      onInterrupted(`${broken}; connecting again in ${(waitMs / 1_000).toFixed(1)} s`);
    }
    await sleep(waitMs, undefined, { signal }).catch(() => {});
  }
}

/** Why the stream broke. What would not get better by itself is thrown. */
function outageOf(error: unknown): string {
  const isBusy = error instanceof RefusedError && (error.status >= 500 || error.status === 429);
  if (error instanceof CommandError && !isBusy && !(error instanceof UnreachableError)) throw error;
  return error instanceof Error ? error.message : String(error);
}
