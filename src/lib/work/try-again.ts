import { setTimeout as pause } from 'node:timers/promises';

/** Who has something done again, and waits for it when it is closed. */
export interface TryingOwner {
  /** Aborted once it is being closed. */
  readonly closing?: AbortSignal | undefined;
  /** Has its `close` wait for something. */
  awaitAtClose?(work: Promise<unknown>): void;
}

/** Before each further try, in milliseconds: a store that restarts is back by then. */
const PAUSES_MS = [250, 1_000, 4_000, 15_000, 60_000];
/** Once its owner is being closed, which waits for no longer. */
const LAST_TRIES = 16;
const LAST_PAUSE_MS = 250;

/**
 * Does again what failed, while a store is busy or away: for some 80 s, or for 4 s from when its owner is closed, which waits for that.
 * @param act - may be done more than once
 * @param first - how it failed
 * @returns how it failed at last; undefined once it is done
 */
export function tryAgain(owner: TryingOwner, act: () => Promise<unknown>, first: unknown): Promise<unknown> {
  const trying = tryUntilDone(owner, act, first);
  owner.awaitAtClose?.(trying);
  return trying;
}

async function tryUntilDone({ closing }: TryingOwner, act: () => Promise<unknown>, first: unknown): Promise<unknown> {
  let failure = first;
  const [pauses, lastPauses] = [[...PAUSES_MS], Array<number>(LAST_TRIES).fill(LAST_PAUSE_MS)];
  for (;;) {
    const isLast = closing?.aborted ?? false;
    const ms = (isLast ? lastPauses : pauses).shift();
    if (ms === undefined) return failure;
    // The end of it all cuts a pause short.
    const cut = isLast || closing === undefined ? {} : { signal: closing };
    await pause(ms, undefined, { ref: isLast, ...cut }).catch(() => {});
    try {
      await act();
      return undefined;
    } catch (error) {
      failure = error;
    }
  }
}
