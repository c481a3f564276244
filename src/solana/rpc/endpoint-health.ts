/** Settings of {@link createEndpointHealth}. */
export interface HealthOptions {
  /** Milliseconds since any fixed point. */
  readonly now: () => number;
  /** A number from 0 up to, not including, 1. */
  readonly random: () => number;
  /** Rest after the first failure, in milliseconds; it doubles with each further one. */
  readonly firstRestMs: number;
  /** Longest rest, in milliseconds. */
  readonly longestRestMs: number;
  /** Called when a call has told how the endpoint is. Default: nobody waits for it. */
  readonly onNews?: () => void;
}

/** Whether one endpoint is well, and when a sick one may be asked again. */
export interface EndpointHealth {
  /** No failure since the last success. */
  well(): boolean;
  /** Time at which a sick endpoint may be asked again. */
  restsUntil(): number;
  /** Whether its one try is under way, so that news of it may come at any moment. */
  isTried(): boolean;
  succeeded(): void;
  /**
   * @param startedAt - when the failed call began; a call from before the last recorded failure adds nothing,
   *   so that a burst of calls that fail together counts once
   * @param restMs - rest that the endpoint itself asked for; it counts in any case
   */
  failed(startedAt: number, restMs?: number): void;
  /** Takes the one try that a rested endpoint gets: until it ends, or {@link TRY_MS} are over, others see it resting. */
  takeTry(): void;
}

/** How long a try keeps others away from the endpoint, in milliseconds: one that hangs must not decide for all. */
export const TRY_MS = 2_000;

/** Keeps the health of one endpoint: exponential rests with jitter between half and whole. */
export function createEndpointHealth(options: HealthOptions): EndpointHealth {
  let failures = 0;
  let failedAt = Number.NEGATIVE_INFINITY;
  let restsUntil = 0;
  let isTried = false;

  function rest(atLeastMs = 0): void {
    const full = Math.min(options.firstRestMs * 2 ** (failures - 1), options.longestRestMs);
    restsUntil = options.now() + Math.max(full * (0.5 + options.random() / 2), atLeastMs);
  }

  return {
    well: () => failures === 0,
    restsUntil: () => restsUntil,
    isTried: () => isTried && options.now() < restsUntil,
    succeeded() {
      failures = 0;
      restsUntil = 0;
      isTried = false;
      options.onNews?.();
    },
    failed(startedAt, restMs = 0) {
      if (failures > 0 && startedAt < failedAt) {
        restsUntil = Math.max(restsUntil, options.now() + restMs);
        return;
      }
      failures += 1;
      failedAt = options.now();
      isTried = false;
      rest(restMs);
      options.onNews?.();
    },
    takeTry() {
      isTried = true;
      rest(TRY_MS);
    },
  };
}
