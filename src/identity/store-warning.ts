const WARNING_PAUSE_MS = 60_000;

/**
 * Reports an outage of what limits are counted in, once a minute.
 * @param now - clock, milliseconds since the epoch
 * @param what - the sentence's beginning: what is not done meanwhile
 */
export function createStoreWarning(now: () => number, what: string): (error: unknown) => void {
  let warnedAt = Number.NEGATIVE_INFINITY;
  return (error) => {
    if (now() - warnedAt < WARNING_PAUSE_MS) return;
    warnedAt = now();
    const reason = error instanceof Error ? error.message : String(error);
    process.emitWarning(`${what}: ${reason}`, { code: 'TOLLHOUSE_LIMITS_OPEN' });
  };
}
