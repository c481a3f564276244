/** How long an upstream waits for a caller who takes its response more slowly than it comes. */
export interface HoldUps {
  /** It waits for him from now on. */
  begin(): void;
  /** It waits no more. */
  end(): void;
  /** Whether it is his doing that it breaks off now, as far as can be told, with so much of its body here. */
  areToBlame(body: BodySoFar): boolean;
}

/** What has come of a body. */
export interface BodySoFar {
  readonly bytes: number;
  /** Bytes that it has in all; undefined where nobody knows. */
  readonly declaredBytes: number | undefined;
}

/** Shorter than servers wait for one who takes nothing, and than most give a whole response. */
export const HELD_UP_MS = 5_000;
/** What has broken off while it waited is seen when all is read that was sent before, of which systems hold some megabytes. */
const SEEN_WITHIN_MS = 30_000;

/**
 * Adds up how long an upstream waits, from the head of its response on. Servers break off what waits too long at once, which is seen only
 * when it is read on, and what takes too long in all, which is seen long after. So all of the waiting counts, and no pause between takes
 * any of it back. Yet when that was long ago, and more was left than would have come in the time, it would have broken off all the same.
 * @param now - a clock that only rises, in milliseconds
 */
export function createHoldUps(now = () => performance.now()): HoldUps {
  const begunAt = now();
  let endedMs = 0;
  let since: number | undefined;
  let endedAt = begunAt;

  return {
    begin() {
      since ??= now();
    },
    end() {
      if (since === undefined) return;
      endedAt = now();
      endedMs += endedAt - since;
      since = undefined;
    },
    areToBlame({ bytes, declaredBytes = bytes }) {
      const time = now();
      const heldMs = endedMs + (since === undefined ? 0 : time - since);
      if (heldMs < HELD_UP_MS) return false;
      if (since !== undefined || time - endedAt < SEEN_WITHIN_MS) return true;
      const flowedMs = time - begunAt - heldMs;
      return (declaredBytes - bytes) * flowedMs <= bytes * heldMs;
    },
  };
}
