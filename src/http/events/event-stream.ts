import { once } from 'node:events';
import type { Response } from 'express';
import { eventMessage } from '../../gateway/webhooks/event-message.js';
import type { EventTail } from '../../gateway/webhooks/event-tail.js';
import { onceOver } from '../../lib/http/connection-events.js';
import type { EventLog, EventPosition, LoggedEvent } from '../../storage/events/event-log.js';

/** Which events a stream shows, and from where on. */
export interface StreamSelection {
  /** Wallet, base58. */
  readonly owner: string;
  readonly passes: (event: LoggedEvent) => boolean;
  /** The last event before. Undefined: begin with what happens from now on. */
  readonly after: EventPosition | undefined;
}

/** What streams are made with. */
export interface StreamParts {
  readonly log: EventLog;
  readonly tail: EventTail;
  /** Whether the caller would still be let in. Asked with every heartbeat, and before events leave. */
  readonly isStillLetIn: () => Promise<boolean>;
  readonly times: StreamTimes;
}

/** Times of streams, in milliseconds. */
export interface StreamTimes {
  /** So long there is silence before a comment is sent, which keeps proxies from closing the connection. */
  readonly heartbeatMs: number;
  /** So long a reader may take nothing before it is cut off. */
  readonly patienceMs: number;
  /** So long a stream lasts; clients connect again by themselves. */
  readonly lifetimeMs: number;
}

const HEADERS = {
  'Content-Type': 'text/event-stream; charset=utf-8',
  'Cache-Control': 'no-store',
  // Or nginx holds events back until it has a buffer full.
  'X-Accel-Buffering': 'no',
};
const PAGE = 100;
/** For so long who was let in counts as let in, however many events there are. */
const LET_IN_MS = 1_000;
const RETRY = 'retry: 2000\n';

/**
 * Answers with events as they happen (WHATWG Server-sent events). Events are read from the log page by page, and no faster
 * than the reader takes them. Ends with the reader, the tail, the caller's right, or its own time.
 * @throws TollhouseError before anything was sent: `stopping`, `store_unavailable`
 */
export async function streamEvents(res: Response, selection: StreamSelection, parts: StreamParts): Promise<void> {
  const news = createBell();
  const stopFollowing = await parts.tail.follow(selection.owner, news.ring);
  const end = endOf(res, parts);
  const ended = end.signal;
  ended.addEventListener('abort', news.ring, { once: true });
  try {
    const { position, lastId } = await startOf(selection, parts.log);
    res.writeHead(200, HEADERS);
    await send(res, `${RETRY}${lastId === undefined ? '' : `id: ${lastId}\n`}: connected\n\n`, parts.times, end);
    await pump(res, { ...selection, after: position }, parts, { news, end });
  } catch (error) {
    // A reader that is cut off connects again, and then is told what is wrong.
    if (!res.headersSent) throw error;
  } finally {
    stopFollowing();
    if (res.headersSent) res.end();
  }
}

interface Bell {
  readonly ring: () => void;
  /** Resolves when it rings, or has rung since the last time; after so many milliseconds with false. */
  heard(waitMs: number): Promise<boolean>;
}

async function pump(
  res: Response,
  { owner, passes, after }: StreamSelection & { readonly after: EventPosition },
  { log, isStillLetIn, times }: StreamParts,
  { news, end }: { readonly news: Bell; readonly end: AbortController },
): Promise<void> {
  const ended = end.signal;
  let position = after;
  let checkAt = Date.now() + times.heartbeatMs;
  let letInAt = Number.NEGATIVE_INFINITY;
  const isLetIn = async (): Promise<boolean> => {
    const at = Date.now();
    if (at - letInAt < LET_IN_MS) return true;
    if (!(await isStillLetIn())) return false;
    letInAt = at;
    return true;
  };
  while (!ended.aborted) {
    const page = await log.readAfter(owner, position, PAGE);
    if (page.length > 0 && !(await isLetIn())) return;
    for (const event of page) {
      position = event.position;
      if (passes(event) && !ended.aborted) await send(res, frameOf(event), times, end);
    }
    const heard = page.length === PAGE || (await news.heard(times.heartbeatMs));
    if (heard && Date.now() < checkAt) continue;
    checkAt = Date.now() + times.heartbeatMs;
    if (!(await isStillLetIn())) return;
    if (!ended.aborted) await send(res, ': still here\n\n', times, end);
  }
}

/** Where a stream begins, and after which event; a client that connects again before the first one names that. */
async function startOf({ owner, passes, after }: StreamSelection, log: EventLog) {
  if (after !== undefined) return { position: after, lastId: undefined };
  const [newest] = await log.list(owner, { limit: 1 });
  return newest === undefined
    ? { position: await log.end(), lastId: undefined }
    : { position: newest.position, lastId: passes(newest) ? newest.id : undefined };
}

function frameOf(event: LoggedEvent): string {
  return `id: ${event.id}\nevent: ${event.type}\ndata: ${JSON.stringify(eventMessage(event))}\n\n`;
}

/** Writes, and waits until the reader has taken most of what was written; who takes too long is cut off. */
async function send(res: Response, text: string, { patienceMs }: StreamTimes, end: AbortController): Promise<void> {
  if (res.write(text)) return;
  const cut = setTimeout(() => {
    res.destroy();
    // A response that waits for others on its connection is not closed by that before its turn.
    end.abort();
  }, patienceMs);
  await once(res, 'drain', { signal: end.signal }).catch(() => {});
  clearTimeout(cut);
}

/** Aborted when the reader is gone, the tail is closed, or the time is over. */
function endOf(res: Response, { tail, times }: StreamParts): AbortController {
  const end = new AbortController();
  const abort = () => end.abort();
  const timer = setTimeout(abort, times.lifetimeMs).unref();
  tail.closed.addEventListener('abort', abort, { once: true });
  onceOver(res, () => {
    clearTimeout(timer);
    tail.closed.removeEventListener('abort', abort);
    abort();
  });
  return end;
}

function createBell(): Bell {
  let hasRung = false;
  let answer: (() => void) | undefined;
  return {
    ring() {
      hasRung = true;
      answer?.();
    },
    async heard(waitMs) {
      if (!hasRung) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, waitMs);
          answer = () => {
            clearTimeout(timer);
            resolve();
          };
        });
      }
      const rang = hasRung;
      hasRung = false;
      answer = undefined;
      return rang;
    },
  };
}
