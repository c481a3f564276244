/** How many payments there is room for, learned from how long their checks take. */
export interface AdaptiveLimit {
  /** How many there may be now. */
  current(): number;
  /** Begins the checks of a payment. What it answers is called when they are done, in whatever way; called again it does nothing. */
  begin(): () => void;
}

/** As few as this hurt no node: there are more connections to one. A bound below it is not changed. */
const FEW = 50;
/** So long may checks take among many, in milliseconds; on a slow node three times as long as they take among few, up to the second. */
const IN_TIME_MS = [1_000, 5_000] as const;
const SLOWER_AMONG_MANY = 3;
/** Checks that an average remembers, and that it takes to find them late. */
const REMEMBERED = 10;

/**
 * What a payment waits for among others is the processor, the store and the connections to the chain, so one number does not fit
 * every node and machine. Where checks take too long among many, the room shrinks to as many as fit into the time, once for all that
 * were under way then; with each that is in time it grows by one, up to `max`. Where few are under way others are not why one is late.
 *
 * @param max - as many as there may ever be; `Infinity` for no bound
 * @param inFlight - how many are under way
 * @param now - clock, milliseconds
 */
export function createAdaptiveLimit(
  max: number,
  inFlight: () => number,
  now: () => number = () => performance.now(),
): AdaptiveLimit {
  const least = Math.min(FEW, max);
  let limit = max;
  const few = newAverage();
  let many = newAverage();
  let shrunkAt = Number.NEGATIVE_INFINITY;

  function learn(since: number, among: number): void {
    const tookMs = now() - since;
    if (among <= FEW) few.add(tookMs);
    else if (since >= shrunkAt) many.add(tookMs);
    const inTimeMs = Math.min(IN_TIME_MS[1], Math.max(IN_TIME_MS[0], few.value() * SLOWER_AMONG_MANY));
    if (tookMs <= inTimeMs) limit = Math.min(max, limit + 1);
    if (max === Number.POSITIVE_INFINITY || many.count() < REMEMBERED || many.value() <= inTimeMs) return;
    limit = Math.max(least, Math.min(limit, Math.floor((among * inTimeMs) / many.value())));
    many = newAverage();
    shrunkAt = now();
  }

  return {
    current: () => limit,
    begin() {
      const since = now();
      const before = inFlight();
      let isUnderWay = true;
      return () => {
        if (isUnderWay) learn(since, Math.max(before, inFlight()));
        isUnderWay = false;
      };
    },
  };
}

/** Of the last values, more or less; 0 before the first. */
function newAverage() {
  let [count, value] = [0, 0];
  return {
    count: () => count,
    value: () => value,
    add(next: number): void {
      count += 1;
      value += (next - value) / Math.min(count, REMEMBERED);
    },
  };
}
