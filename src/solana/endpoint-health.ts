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
}

/** Whether one endpoint is well, and when a sick one may be asked again. */
export interface EndpointHealth {
  /** No failure since the last success. */
  well(): boolean;
  /** Time at which a sick endpoint may be asked again. */
  restsUntil(): number;
  succeeded(): void;
  /**
   * @param startedAt - when the failed call began; a call from before the last recorded failure adds nothing,
   *   so that a burst of calls that fail together counts once
   * @param restMs - rest that the endpoint itself asked for
   */
  failed(startedAt: number, restMs?: number): void;
  /** Takes the one try that a rested endpoint gets: until it ends, others see it resting. */
  takeTry(): void;
}

/** Keeps the health of one endpoint: exponential rests with jitter between half and whole. */
export function createEndpointHealth(options: HealthOptions): EndpointHealth {
  let failures = 0;
  let failedAt = Number.NEGATIVE_INFINITY;
  let restsUntil = 0;

  function rest(atLeastMs = 0): void {
    const full = Math.min(options.firstRestMs * 2 ** (failures - 1), options.longestRestMs);
    restsUntil = options.now() + Math.max(full * (0.5 + options.random() / 2), atLeastMs);
  }

  return {
    well: () => failures === 0,
    restsUntil: () => restsUntil,
    succeeded() {
      failures = 0;
      restsUntil = 0;
    },
    failed(startedAt, restMs) {
      if (failures > 0 && startedAt < failedAt) return;
      failures += 1;
      failedAt = options.now();
      rest(restMs);
    },
    takeTry: () => rest(),
  };
}
