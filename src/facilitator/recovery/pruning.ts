import { setTimeout as pause } from 'node:timers/promises';
import { type PruningLag, readPruningLag } from '../../storage/prunable.js';
import type { Storage } from '../../storage/storage.js';

/** What of each kind goes in one step: a step is over before anybody notices. */
const STEP = 100;
const DAY_MS = 86_400_000;
/** How long what was not paid is remembered, with the event that it was asked for, and what was: the books of a year. */
const RETENTION_MS = DAY_MS;
const BOOKS_RETENTION_MS = 400 * DAY_MS;
/** Longer than the longest schedule of a webhook, and time to recover what was missed. */
const EVENTS_RETENTION_MS = 30 * DAY_MS;
const SHORTEST_PAUSE_MS = 5;
/** A clock that is set right in passing is not off by more. */
const JUMP_MS = 30_000;

/** What {@link pruneAll} works with. */
export interface PruningParts {
  readonly storage: Pick<Storage, 'prune' | 'gateway'>;
  /** Clock, milliseconds since the epoch. */
  readonly now: () => number;
  /** Whether that clock is right, by one that is not of this machine. */
  readonly isClockRight: () => Promise<boolean>;
  /** Ends it between two steps. */
  readonly stopped: AbortSignal;
}

/**
 * Forgets all that is of no more use, in small steps, and rests for as long as each of them took: requests come in between. Nothing
 * while the clock is wrong, or nobody tells: what it takes for old would be gone for good.
 * @returns how many went
 */
export async function pruneAll({ storage, now, isClockRight, stopped }: PruningParts): Promise<number> {
  const [time, beganAt] = [now(), performance.now()];
  if (!(await isClockRight())) return 0;
  for (let gone = 0; ; ) {
    const began = performance.now();
    const hasJumped = now() - time > began - beganAt + JUMP_MS;
    if (hasJumped) return gone;
    const went = await pruneStep(storage, time);
    gone += went;
    // Something new comes of age all the time: without a full step of anything, what was behind is done.
    if (went < STEP || stopped.aborted) return gone;
    const restMs = Math.max(SHORTEST_PAUSE_MS, performance.now() - began);
    await pause(restMs, undefined, { signal: stopped, ref: false }).catch(() => {});
    if (stopped.aborted) return gone;
  }
}

async function pruneStep(storage: PruningParts['storage'], time: number): Promise<number> {
  const booksBefore = time - BOOKS_RETENTION_MS;
  const went = await storage.prune(time - RETENTION_MS, STEP, booksBefore);
  return went + (await storage.gateway.prune(time - EVENTS_RETENTION_MS, STEP, booksBefore, time - RETENTION_MS));
}

/**
 * How far behind forgetting is, by kind: for how many milliseconds the oldest that can be forgotten could have been so. As
 * much as the pause between two rounds, a minute, is usual.
 * @param time - milliseconds since the epoch
 */
export function pruningLag({ database }: Pick<Storage, 'database'>, time: number): Promise<PruningLag> {
  return readPruningLag(database, {
    unpaid: time - RETENTION_MS,
    events: time - EVENTS_RETENTION_MS,
    books: time - BOOKS_RETENTION_MS,
    expired: time,
  });
}
