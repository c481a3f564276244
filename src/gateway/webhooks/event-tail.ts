import { setMaxListeners } from 'node:events';
import { TollhouseError } from '../../errors/errors.js';
import { createWorkLoop } from '../../lib/work/work-loop.js';
import type { EventLog, EventPosition } from '../../storage/events/event-log.js';

/** Tells whose events are new, to those who read them: one look at the log for all readers of a process. */
export interface EventTail {
  /**
   * Calls `onNews` each time that an owner has new events, until it is told to stop. What is written after this has
   * resolved is told of; what was written before is there to be read.
   * Rejects with `stopping` when the tail is closed, `store_unavailable` when the log cannot be read.
   * @returns stops it
   */
  follow(owner: string, onNews: () => void): Promise<() => void>;
  /** An event was written on this instance: looks within a tenth of a second. Otherwise it is seen within five seconds. */
  wake(): void;
  /** How many follow at the moment. */
  readers(): number;
  /** Aborted when the tail is closed: readers end then. */
  readonly closed: AbortSignal;
  /** Ends every reader. */
  close(): Promise<void>;
}

const EVENTS_A_STEP = 500;

/**
 * Makes a tail. It looks at nothing while nobody follows.
 * @param onError - told of looks that failed; the next one makes up for it. Default: nobody is told
 */
export function createEventTail(
  log: Pick<EventLog, 'end' | 'newsAfter'>,
  onError: (error: unknown) => void = () => {},
): EventTail {
  const followers = new Map<string, Set<() => void>>();
  const closing = new AbortController();
  // Every reader listens.
  setMaxListeners(0, closing.signal);
  let position: EventPosition | undefined;

  async function look(): Promise<number> {
    if (followers.size === 0) position = undefined;
    if (position === undefined) return 0;
    const news = await log.newsAfter(position, EVENTS_A_STEP);
    position = news.position;
    for (const owner of news.owners) for (const onNews of followers.get(owner) ?? []) onNews();
    if (news.more) loop.wake();
    return news.owners.size;
  }

  const loop = createWorkLoop(look, onError);

  return {
    closed: closing.signal,
    wake: loop.nudge,
    readers: () => [...followers.values()].reduce((sum, some) => sum + some.size, 0),
    async follow(owner, onNews) {
      if (closing.signal.aborted) throw new TollhouseError('stopping', 'The server is being stopped.');
      const end = await log.end();
      const some = followers.get(owner) ?? new Set();
      followers.set(owner, some.add(onNews));
      position ??= end;
      loop.start();
      return () => {
        some.delete(onNews);
        if (some.size === 0) followers.delete(owner);
      };
    },
    async close() {
      closing.abort();
      await loop.stop();
    },
  };
}
