import { TollhouseError } from '../../errors/errors.js';

/** How much is done at once. */
export interface TurnBounds {
  /** For one owner. Default 2. */
  readonly ofOwner?: number;
  /** For all of them together. Default 6. */
  readonly inAll?: number;
  /** How much of one owner waits at most. Default 8. */
  readonly waiting?: number;
  /** How many times as long as something has taken its place stays empty after it, for each place that is not free. Default 4. */
  readonly rest?: number;
}

/**
 * Work for owners who share what it needs: each has some of it under way, and they take turns at the rest. A place rests when its
 * work is done, longer than that took, and longer still where others work or rest: those who ask without end, however many they are, leave
 * three quarters of the time to whoever calls and pays.
 */
export interface OwnerTurns {
  /**
   * Does something for an owner when it is their turn.
   * @throws TollhouseError `rate_limited` where too much of this owner waits already
   */
  run<Result>(owner: string, act: () => Promise<Result>): Promise<Result>;
}

const RETRY_SECONDS = 1;
/** However long something has taken. */
const MAX_REST_MS = 2_000;
const TOO_MANY =
  'Too many queries of this wallet are under way and wait; send this one again when some of them have been answered.';

/** Makes turns. They are of this process. */
export function createOwnerTurns({ ofOwner = 2, inAll = 6, waiting = 8, rest = 4 }: TurnBounds = {}): OwnerTurns {
  const underWay = new Map<string, number>();
  /** Owners in the order of their turns, each with what waits. */
  const queues = new Map<string, (() => void)[]>();
  let all = 0;

  function mayBegin(owner: string): boolean {
    return all < inAll && (underWay.get(owner) ?? 0) < ofOwner;
  }

  function begin(owner: string): void {
    all += 1;
    underWay.set(owner, (underWay.get(owner) ?? 0) + 1);
  }

  function end(owner: string): void {
    all -= 1;
    const left = (underWay.get(owner) ?? 1) - 1;
    if (left === 0) underWay.delete(owner);
    else underWay.set(owner, left);
    callNext();
  }

  function callNext(): void {
    for (const [owner, queue] of queues) {
      if (!mayBegin(owner)) continue;
      const go = queue.shift();
      queues.delete(owner);
      if (queue.length > 0) queues.set(owner, queue);
      begin(owner);
      return go?.();
    }
  }

  async function enter(owner: string): Promise<void> {
    const queue = queues.get(owner) ?? [];
    if (queue.length === 0 && mayBegin(owner)) return begin(owner);
    if (queue.length >= waiting) {
      throw new TollhouseError('rate_limited', TOO_MANY, { retryAfterSeconds: RETRY_SECONDS });
    }
    queues.set(owner, queue);
    await new Promise<void>((resolve) => queue.push(resolve));
  }

  return {
    async run(owner, act) {
      await enter(owner);
      const begun = performance.now();
      try {
        return await act();
      } finally {
        const restMs = Math.min(rest * all * (performance.now() - begun), MAX_REST_MS);
        if (restMs === 0) end(owner);
        else setTimeout(end, restMs, owner).unref();
      }
    },
  };
}
